// A page that a real MCP server brings along (MCP Apps): it is shown in its frame,
// where it reaches neither the network nor this page; a tool that it calls runs once a
// person has said yes, and is recorded as the page's.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { chat } from "../kit.mjs";
import { call, script } from "../models.mjs";

const peer = "node_modules/@modelcontextprotocol/server-basic-vanillajs/dist/index.js";

// Tried by the page itself, beside its own work.
const tries = (outside, own) => `<script>
  window.tried = {};
  const note = (name, work) => { try { Promise.resolve(work()).then(() => (tried[name] = "let out"), (e) => (tried[name] = "kept: " + e.name)); } catch (e) { tried[name] = "kept: " + e.name; } };
  note("fetch", () => fetch("${outside}/fetch"));
  note("the server", () => fetch("${own}/api/chats"));
  note("top", () => top.document.title);
  note("parent", () => parent.document.title);
  note("storage", () => localStorage.length);
  note("picture", () => new Promise((ok, no) => { const i = new Image(); i.onload = ok; i.onerror = () => no(new Error("no picture")); i.src = "${outside}/picture"; }));
</script>`;

export default async function app(t) {
  const hits = [];
  const { origin: outside } = await t.listen((request, response) => {
    hits.push(request.url);
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.end("reached");
  });
  const program = join(process.env.FETTLE_MCP_PEERS ?? "", peer);
  t.ok(existsSync(program), `FETTLE_MCP_PEERS has ${peer}`);
  const server = await t.serve({
    args: ["--model", "script/model.yaml"],
    models: {
      "model.yaml": script([
        { when: "^time$", step: 0, calls: [call("get-time")] }, { when: "^time$", step: 1, text: "There it stands." },
        { when: "^wait$", text: "Waited." },
      ]),
    },
    before: (s) => s.run("mcp", "add", "clock", "--", process.execPath, program, "--stdio"),
  });
  t.allow(/Content Security Policy/i, /sandbox/i, /Blocked|blocked|Refused|refused/, /net::ERR_/);
  const page = await t.open(server);
  const ui = chat(page);
  // The server's page, with what it tries beside its own work.
  await page.route(/\/api\/tool-calls\/\w+\/artifact$/, async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    body.app.html = body.app.html.replace("</body>", () => `${tries(outside, server.url)}</body>`);
    await route.fulfill({ response, json: body });
  });

  await ui.ask("time");
  const asks = page.getByRole("region", { name: /get-time needs your approval/ });
  const allow = asks.getByRole("button", { name: "Allow once" });
  await t.until("the call can be allowed", () => allow.isEnabled());
  await allow.click();
  await page.getByText("There it stands.").waitFor();
  const answer = await ui.done();
  await answer.getByRole("button", { name: /^get-time/ }).click();
  await answer.getByRole("button", { name: "Open in workspace" }).first().click();
  const frame = page.getByRole("complementary", { name: "Workspace" }).locator("iframe").contentFrame();
  const view = frame.locator("iframe").contentFrame();
  const time = view.locator("#server-time");
  await t.until("the page has the call's result", () => time.innerText(), (text) => /^\d{4}-\d\d-\d\dT/.test(text));
  const shown = await time.innerText();

  // Nothing gets out.
  const tried = await t.until("all was tried", () => view.locator("body").evaluate(() => window.tried), (all) => Object.keys(all ?? {}).length === 6);
  t.equal(Object.entries(tried).filter(([, end]) => !end.startsWith("kept")), [], "what the page was let do");
  t.equal(hits, [], "what came out of the page");

  // It calls a tool: a person says no, and then yes.
  const chatId = page.url().split("/c/")[1];
  const calls = async () => (await server.api(`/api/chats/${chatId}/messages`)).calls;
  const own = (await calls())[0];
  for (const [say, made] of [["Deny", 0], ["Allow once", 1]]) {
    await view.getByRole("button", { name: "Get Server Time" }).click();
    const dialog = page.getByRole("dialog", { name: /wants to call get-time/ });
    const button = dialog.getByRole("button", { name: say });
    await t.until(`${say} can be used`, () => button.isEnabled());
    if (say === "Deny") await t.shot(page, "asks");
    await button.click();
    await dialog.waitFor({ state: "detached" });
    await t.until(`calls of the page after ${say}`, calls, (list) => list.length === 1 + made);
  }
  await t.until("the page shows the new time", () => time.innerText(), (text) => /^\d{4}-/.test(text) && text !== shown);
  const [, made] = await calls();
  t.equal([made.app_of, made.tool_id, made.status, made.message_id === own.message_id], [own.id, "clock:get-time", "success", true], "the record of the page's call");
  t.ok(made.pre_manifest_id && made.post_manifest_id, "the call has its states");
  const record = await server.api(`/api/tool-calls/${made.id}`);
  t.ok(JSON.stringify(record.result).includes(await time.innerText()), "the record has what the page was told");
  t.equal((await server.api(`/api/chats/${chatId}/messages`)).messages.length, 2, "messages");
  await page.getByText("1 call by its page").waitFor();
  await page.getByRole("region", { name: "Calls by its page" }).getByRole("button", { name: /^get-time/ }).waitFor();
  await t.shot(page, "called");
  await t.axe(page, "an app");

  // What it says in the person's name waits for them, too.
  await view.getByRole("button", { name: "Send Message" }).click();
  await page.getByRole("dialog", { name: /wants to send a message as you/ }).getByRole("button", { name: "Don’t" }).click();
  t.equal((await server.api(`/api/chats/${chatId}/messages`)).messages.length, 2, "messages after one was refused");
}
