// Results are part of the chat: every card and panel is as before after a reload, in
// another browser, after a restart, and once the toolset has another version or is gone.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chat } from "../kit.mjs";
import { call, script } from "../models.mjs";

const payloads = 12;
const further = 50; // answers after those with results
const title = (n) => `Result ${n}`;

function shower(dir, version, colour) {
  for (const folder of ["tools", "artifacts"]) mkdirSync(join(dir, folder), { recursive: true });
  writeFileSync(join(dir, "tools/show.py"), [
    "from fettle import ToolResult", "", "",
    "def run(workspace, kind, title, content):",
    '    return ToolResult(text=f"shown {kind}", workspace_payload={"type": kind, "title": title, "content": content})', "", "",
    "def page(workspace, words):",
    '    return {"words": words}', "",
  ].join("\n"));
  writeFileSync(join(dir, "artifacts/page.html"), `<!doctype html><html><head></head><body><p id="it"></p><script>document.getElementById("it").textContent = "${colour}: " + window.__TOOL_DATA__.words</script></body></html>`);
  const string = { type: "string" };
  writeFileSync(join(dir, "toolset.yaml"), JSON.stringify({
    manifest_version: "1", id: "shower", name: "Shower", version, description: "Shows results",
    tools: [
      { id: "show", name: "Show", description: "Shows a payload", entrypoint: "tools.show:run", input_schema: { type: "object", properties: { kind: string, title: string, content: string } } },
      { id: "page", name: "Page", description: "Shows a page", entrypoint: "tools.show:page", input_schema: { type: "object", properties: { words: string } }, renderer: { type: "html", artifact: "artifacts/page.html", data: "$return" } },
    ],
  }));
}

export default async function results(t) {
  const dir = mkdtempSync(join(tmpdir(), "fettle-page-results-"));
  t.closers.push(() => rmSync(dir, { recursive: true, force: true }));
  shower(dir, "1.0.0", "green");
  const server = await t.serve({
    args: ["--model", "script/model.yaml"],
    toolsets: [dir],
    models: {
      "model.yaml": script([
        { when: "^results", step: 0, calls: [...Array.from({ length: payloads }, (_, n) => call("show", { kind: "draft", title: title(n), content: `Text ${n}` })), call("page", { words: "rendered once" })] },
        { when: "^results", step: 1, text: "These are the results." },
        { when: "", text: "Nothing new." },
      ]),
    },
  });
  const first = await server.turn("results");

  /** whole holds every card of the answer against what was given, in a browser of its own. */
  async function whole(what) {
    const page = await t.open(server, { context: await t.context({ width: 1600 }), path: `/c/${first.chat_id}` });
    const list = page.getByRole("list", { name: "What was made" }).getByRole("listitem");
    const panel = page.getByRole("complementary", { name: "Workspace" }).getByRole("tabpanel", { name: "Result" });
    await t.until(`the first answer is loaded ${what}`, async () => {
      if ((await list.count()) === payloads) return true;
      await page.getByRole("log", { name: "Messages" }).hover();
      await page.mouse.wheel(0, -20_000);
      return false;
    });
    for (const n of [0, payloads - 1]) {
      await list.nth(n).getByRole("button", { name: "Open in workspace" }).click();
      await panel.getByText(n === 0 ? "Dear reader" : `Text ${n}`).waitFor();
    }
    await page.getByRole("button", { name: /^page/ }).first().click();
    await page.getByRole("button", { name: "Open in workspace" }).first().click();
    await panel.locator("iframe").contentFrame().getByText("green: rendered once").waitFor();
    await page.context().close();
  }

  // The newest result is in the panel, and a draft is edited.
  const page = await t.open(server, { path: `/c/${first.chat_id}` });
  const panel = page.getByRole("complementary", { name: "Workspace" }).getByRole("tabpanel", { name: "Result" });
  await panel.getByText(`Text ${payloads - 1}`).waitFor();
  await page.getByRole("list", { name: "What was made" }).getByRole("listitem").first().getByRole("button", { name: "Open in workspace" }).click();
  await panel.getByRole("button", { name: "Edit" }).click();
  await panel.getByRole("textbox", { name: `Text of ${title(0)}` }).fill("Dear reader");
  await panel.getByText("Edited; the model is told").waitFor();
  await page.reload();
  await page.getByRole("list", { name: "What was made" }).getByRole("listitem").first().getByRole("button", { name: "Open in workspace" }).click();
  await panel.getByText("Dear reader").waitFor();

  for (let i = 0; i < further; i++) await server.turn("go on", { chat_id: first.chat_id });
  await page.reload();
  await panel.getByText(`Text ${payloads - 1}`).waitFor();
  await chat(page).answers.last().waitFor();
  await whole(`after ${further} answers`);

  shower(dir, "2.0.0", "red");
  server.run("toolset", "import", dir, "--yes");
  await whole("after an update");
  server.run("toolset", "disable", "shower");
  await whole("while it is disabled");
  server.run("toolset", "rm", "shower", "--yes");
  await whole("after its removal");
}
