// The tools of one chat, its agent mode, and the agents that the user made: chosen, changed and
// removed on the page, and there again after a reload.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chat } from "../kit.mjs";
import { call, script } from "../models.mjs";

const agent = { id: "planner", name: "Planner", purpose: "Plans trips", prompt: "You plan trips.", tools: ["read_file"] };
const model = script([
  { when: "^make", step: 0, calls: [call("propose", agent)] },
  { when: "", text: "Done." },
]);

function maker(t) {
  const dir = mkdtempSync(join(tmpdir(), "fettle-page-maker-"));
  t.closers.push(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, "tools"));
  writeFileSync(join(dir, "tools/propose.py"), 'from fettle import ToolResult\n\n\ndef run(workspace, **agent):\n    return ToolResult(text="proposed", workspace_payload={"type": "agent_create", "title": "An agent", "agent_data": agent})\n');
  writeFileSync(join(dir, "toolset.yaml"), JSON.stringify({
    manifest_version: "1", id: "maker", name: "Maker", version: "1.0.0", description: "Proposes agents.",
    tools: [{ id: "propose", name: "Propose", description: "Proposes an agent.", entrypoint: "tools.propose:run", input_schema: { type: "object" } }],
  }));
  return dir;
}

export default async function chatTools(t) {
  const server = await t.serve({ args: ["--model", "script/model.yaml"], models: { "model.yaml": model }, toolsets: [maker(t)] });
  const context = await t.context();
  await context.addInitScript(() => {
    const send = window.fetch; // a body that is a Blob is seen nowhere else
    window.fetch = async (url, init) => {
      if (String(url).endsWith("/api/turns")) window.asked = JSON.parse(await init.body.text());
      return send(url, init);
    };
  });
  const page = await t.open(server, { context });
  const ui = chat(page);
  const button = page.getByRole("button", { name: "Tools of this chat" });
  const dialog = page.getByRole("dialog", { name: "Tools of this chat" });
  const asks = async (text) => {
    await ui.ask(text);
    const body = await t.until(`the request of ${text}`, () => page.evaluate(() => window.asked), (now) => now?.message === text);
    await ui.done();
    return body;
  };

  // A new chat's choice goes with its first question, and belongs to that chat.
  await button.click();
  await dialog.getByRole("button", { name: "No tools" }).click();
  await dialog.getByRole("checkbox", { name: "List Files" }).check();
  await t.axe(page, "the tools of a chat");
  await t.shot(page, "tools");
  await dialog.getByRole("button", { name: "Done" }).click();
  t.equal((await asks("hello")).tools, ["list_files"], "the tools of the first question");
  const first = page.url();
  await page.reload();
  await page.getByText("Done.").waitFor();
  t.equal((await asks("hello again")).tools, ["list_files"], "the tools after a reload");
  await page.getByRole("button", { name: "New chat" }).click();
  await page.waitForURL((url) => url.href !== first);
  t.equal((await asks("hello, you too")).tools, undefined, "the tools of another chat");

  // Agent mode is off: the chat keeps it on the server.
  await button.click();
  await dialog.getByRole("switch", { name: "Agent mode" }).click();
  t.ok(await dialog.getByRole("checkbox", { name: "List Files" }).isDisabled(), "no tool can be chosen without agent mode");
  await dialog.getByRole("button", { name: "Done" }).click();
  t.equal((await asks("without tools")).agent_mode, false, "the agent mode of the question");
  const { chats } = await server.api("/api/chats");
  t.equal(chats[0].agent_mode, false, "the agent mode of the chat");
  await page.evaluate(() => localStorage.removeItem("fettle_chat_tools"));
  await page.reload();
  await page.getByText("hello, you too").first().waitFor();
  await t.until("the page has the chat's agent mode", () => button.innerText(), (text) => text === "off");

  // An agent of the user is changed and removed.
  await server.turn("make one", { allow: ["*"] });
  const made = (await server.api("/api/chats")).chats[0];
  const [payload] = (await server.api(`/api/chats/${made.id}/payloads`)).payloads;
  await server.api(`/api/chats/${made.id}/payloads/${payload.id}/accept`, { method: "POST", body: {} });
  await page.reload();
  if (!(await page.getByRole("tab", { name: "Agents" }).isVisible())) await page.getByRole("button", { name: "Show tools and settings" }).click();
  await page.getByRole("tab", { name: "Agents" }).click();
  await page.getByRole("button", { name: "Details of Planner" }).click();
  const details = page.getByRole("dialog", { name: "Planner" });
  await details.getByRole("button", { name: "Edit" }).click();
  await details.getByRole("textbox", { name: "Prompt" }).fill("You plan short trips.");
  await details.getByRole("textbox", { name: /^Tools/ }).fill("read_file\nlist_files");
  await t.axe(page, "the form of an agent");
  await t.shot(page, "agent");
  await details.getByRole("button", { name: "Save" }).click();
  await details.waitFor({ state: "detached" });
  const now = await server.api("/api/agents/planner");
  t.equal([now.name, now.prompt, now.tools], ["Planner", "You plan short trips.", ["read_file", "list_files"]], "the changed agent");
  await page.getByRole("button", { name: "Details of Planner" }).click();
  await details.getByRole("button", { name: "Remove…" }).click();
  await details.getByRole("button", { name: "Remove Planner" }).click();
  await details.waitFor({ state: "detached" });
  t.equal((await server.api("/api/agents")).agents, [], "agents after the removal");
}
