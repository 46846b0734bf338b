// What strangers wrote reaches nothing: a tool's own page in its frame, what it posts
// to the page, and an answer that is full of traps. A listener counts what came out.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { project } from "../server.mjs";
import { chat } from "../kit.mjs";
import { call, script } from "../models.mjs";

const shared = join(process.env.FETTLE_SHARED || join(project, "../shared"), "data/security/html");
const post = `<!doctype html><title>posts</title><p id="o">begins</p><script>
const cases = /*CASES*/;
for (const c of cases) parent.postMessage(c, "*");
parent.postMessage({type: "resize", height: 4001}, "*");
parent.postMessage({type: "event", payload: "x".repeat(70000)}, "*");
parent.postMessage({type: "ui/message", text: "from the frame"}, "*");
o.textContent = "posted " + cases.length;
</script>`;
const data = `<!doctype html><title>data</title><pre id="o"></pre><script>o.textContent = JSON.stringify([window.__TOOL_DATA__, String(window.PWN)])</script>`;

function toolset(dir, html) {
  mkdirSync(join(dir, "tools"), { recursive: true });
  mkdirSync(join(dir, "artifacts"), { recursive: true });
  writeFileSync(join(dir, "tools/show.py"), "def run(workspace, x=None):\n    return {\"x\": x}\n");
  const tools = Object.entries(html).map(([id, text]) => {
    writeFileSync(join(dir, `artifacts/${id}.html`), text);
    return { id, name: id, description: `Shows ${id}`, entrypoint: "tools.show:run", input_schema: { type: "object", properties: { x: {} } }, renderer: { type: "html", artifact: `artifacts/${id}.html`, data: "$return" } };
  });
  writeFileSync(join(dir, "toolset.yaml"), JSON.stringify({ manifest_version: "1", id: "stranger", name: "Stranger", version: "1.0.0", description: "Pages of a stranger", tools }));
}

export default async function hostile(t) {
  const hits = [];
  const { origin: outside } = await t.listen((request, response) => {
    hits.push(`${request.method} ${request.url} from ${request.headers.origin ?? request.headers.referer ?? "nowhere"}`);
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.end("reached");
  });
  const read = (name) => readFileSync(join(shared, name), "utf8");
  const dir = mkdtempSync(join(tmpdir(), "fettle-page-stranger-"));
  t.closers.push(() => rmSync(dir, { recursive: true, force: true }));
  // The probe's addresses lead to the listener, which would answer all that reaches it.
  const probe = read("escape-probe.html").replaceAll(/(?:https|wss):\/\/evil\.example/g, outside).replaceAll("//leak.evil.example", outside);
  const { cases } = JSON.parse(read("postmessage.json"));
  toolset(dir, { probe, post: post.replace("/*CASES*/", JSON.stringify(cases).replaceAll("<", "\\u003c")), data });
  const values = JSON.parse(read("tool-data.json")).cases.map((c) => c.data);

  const trap = [
    `![image](${outside}/image)`, `[click](javascript:window.PWN=1)`, `[more](data:text/html,<script>1</script>)`, `<img src="${outside}/tag" onerror="window.PWN=1">`,
    `<script>window.PWN=1</script>`, `<iframe src="${outside}/frame"></iframe>`, `<a href="${outside}/a" onclick="window.PWN=1">x</a>`, `<style>body{display:none}</style>`,
    `[fine](${outside}/fine "a title")`, `![x](${outside}/x "onerror=alert(1)")`, `<svg onload="window.PWN=1"></svg>`, "[ref]: javascript:alert(1)", "[ref]", "the end of the traps",
  ].join("\n\n");
  const server = await t.serve({
    args: ["--model", "script/model.yaml"], toolsets: [dir],
    models: {
      "model.yaml": script([
        ...["probe", "post"].flatMap((tool) => [{ when: `^${tool}$`, step: 0, calls: [call(tool, { x: 1 })] }, { when: `^${tool}$`, step: 1, text: `shown ${tool}` }]),
        { when: "^data$", step: 0, calls: [call("data", { x: values })] }, { when: "^data$", step: 1, text: "shown data" },
        { when: "^traps$", text: trap },
      ]),
    },
  });
  // What the frame may not do, its own policy tells the console.
  t.allow(/Content Security Policy/i, /sandbox/i, /Blocked|blocked|Refused|refused/, /net::ERR_/, /Permissions policy/i, /postMessage/);
  const page = await t.open(server);
  const ui = chat(page);
  const frame = async (tool) => {
    await ui.ask(tool);
    await page.getByText(`shown ${tool}`).waitFor();
    const answer = await ui.done();
    await answer.getByRole("button", { name: new RegExp(`^${tool}`) }).click();
    await answer.getByRole("button", { name: "Open in workspace" }).first().click();
    return page.getByRole("complementary", { name: "Workspace" }).locator("iframe");
  };

  // Every way out is tried, and none leads out.
  const element = await frame("probe");
  const probing = element.contentFrame().locator("#o");
  let told = {};
  await t.until("the probe is at its end", async () => {
    try {
      told = JSON.parse((await probing.textContent({ timeout: 1000 })) || "{}");
    } catch {
      return page.getByText("This view was closed").isVisible(); // it went away, and was taken away
    }
    return "top navigation" in told || (await page.getByText("This view was closed").isVisible());
  });
  // These say that they began, not that anything went out: the listener tells.
  const vague = ["beacon", "webrtc", "top navigation"];
  const open = Object.entries(told).filter(([name, result]) => result !== "blocked" && !vague.includes(name)).map(([name]) => name);
  t.equal(open, [], "what the probe could do");
  t.ok(page.url().startsWith(server.url), "the page is where it was");
  const source = (await element.getAttribute("src").catch(() => null)) ?? "";
  t.ok(source === "" || new URL(source).origin !== server.url, "the frame is of another origin");
  await t.shot(page, "probe");

  // What is posted changes nothing.
  const before = (await server.api("/api/chats")).chats.length;
  const posts = await frame("post");
  await t.until("the frame has posted", async () => (await posts.contentFrame().locator("#o").textContent()) === `posted ${cases.length}`);
  const box = await posts.boundingBox();
  t.ok(box && box.height <= 900, `the frame is no higher than the window: ${JSON.stringify(box)}`);
  t.equal((await server.api("/api/chats")).chats.length, before, "chats");
  const chatId = page.url().split("/c/")[1];
  const asked = (await server.api(`/api/chats/${chatId}/messages`)).messages.filter((m) => m.role === "user").length;
  t.equal(asked, 2, "questions, none of them from a frame");

  // Data comes through as it is, and is no markup.
  const shown = await frame("data");
  const [got, pwn] = JSON.parse(await t.until("the frame has data", () => shown.contentFrame().locator("#o").textContent()));
  t.equal(got, { x: values }, "the tool's data in its page");
  t.equal(pwn, "undefined", "PWN in the frame");

  // An answer is text and a few tags.
  await ui.ask("traps");
  await page.getByText("the end of the traps").waitFor();
  const answer = await ui.done();
  t.equal(await page.evaluate(() => String(window.PWN)), "undefined", "PWN in the page");
  t.equal(await answer.locator("script, iframe, style, [onclick], [onerror], [onload]").count(), 0, "tags that do something");
  const links = await answer.locator("a").evaluateAll((all) => all.map((a) => ({ href: a.getAttribute("href") ?? "", rel: a.rel, target: a.target })));
  t.ok(links.every((a) => a.href === "" || /^https?:/.test(a.href)), `links lead to pages alone: ${JSON.stringify(links)}`);
  t.ok(links.filter((a) => a.href).every((a) => a.rel.includes("noopener")), `links don't open this page: ${JSON.stringify(links)}`);
  t.equal(await answer.locator(`img[src^="http"]`).count(), 0, "images of others");
  await t.shot(page, "traps");
  t.equal(hits, [], "what reached the outside");
}
