// Payload types with views of a bundle's own: a page, an MCP App, a table and a document, drawn in the
// card and in the panel, with the bundle's look. A reload, an update of the bundle and its
// removal change neither.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chat } from "../kit.mjs";
import { call, script } from "../models.mjs";

/** bundle writes a version of the toolset: its page, labels and widths name the version. */
export function bundle(dir, version) {
  for (const name of ["tools", "artifacts"]) mkdirSync(join(dir, name), { recursive: true });
  writeFileSync(join(dir, "tools/make.py"), 'from fettle import ToolResult\n\n\ndef run(workspace):\n    rows = [{"name": "Ada", "points": 7}, {"name": "Grace", "points": 12}]\n    return ToolResult(text="made", workspace_payload={"type": "scores", "title": "Scores", "content": "", "data": {"rows": rows}})\n');
  writeFileSync(
    join(dir, "artifacts/dial.html"),
    `<!doctype html><meta charset="utf-8"><title>Dial</title><h1>Dial of version ${version}</h1><p id="v"></p><script>document.getElementById("v").textContent = "value " + window.__TOOL_DATA__.value;</script>`,
  );
  writeFileSync(join(dir, "artifacts/board.html"), `<!doctype html><meta charset="utf-8"><title>Board</title><p id="v"></p><script>
    const say = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
    addEventListener("message", ({ data }) => {
      if (data.id === 1) say({ method: "ui/notifications/initialized", params: {} });
      if (data.method === "ui/notifications/tool-result") {
        document.getElementById("v").textContent = "board ${version} of " + data.params.structuredContent.players.join(" and ");
        say({ method: "ui/notifications/size-changed", params: { width: 300, height: 120 } });
        say({ id: 2, method: "tools/call", params: { name: "make", arguments: {} } });
      }
      if (data.id === 2) document.getElementById("v").textContent += ", " + (data.error ? data.error.message : "which called a tool");
    });
    say({ id: 1, method: "ui/initialize", params: { protocolVersion: "2026-01-26", capabilities: {}, appInfo: { name: "board", version: "1" } } });
  </script>`);
  const type = (type, marker, renderer, more) => ({ type, ...(marker ? { parse_marker: marker, llm_instructions: `Write ${marker} with an object.` } : {}), renderer, ...more });
  writeFileSync(join(dir, "toolset.yaml"), JSON.stringify({
    manifest_version: "1", id: "ownviews", name: "Own views", version: `${version}.0.0`, description: "Payload types with views of their own.",
    tools: [{ id: "make", name: "Make", description: "Makes scores.", entrypoint: "tools.make:run", input_schema: { type: "object", properties: {} } }],
    payloads: [
      type("dial", "DIAL:", { type: "html", artifact: "artifacts/dial.html", data: "$return" }, { style: { icon: "star", colour: "green", label: `Dial ${version}` }, render_options: { panelWidth: "700px", headerTitle: `Header ${version}` } }),
      type("board", "BOARD:", { type: "mcp_app", artifact: "artifacts/board.html" }, { style: { label: `Board ${version}` } }),
      type("scores", "", { type: "table", data: "$return.rows" }, { style: { label: `Table ${version}` } }),
      type("paper", "PAPER:", { type: "document", content: "$return.text" }, { style: { label: `Paper ${version}` } }),
    ],
  }));
}

export const answers = [
  { when: "^show", step: 0, text: 'The dial. DIAL: {"value": 42}', calls: [call("make")] },
  { when: "^show", step: 1, text: 'The board. BOARD: {"players": ["Ada", "Grace"]}\n\nThe paper. PAPER: {"text": "# A paper\\n\\nOf *two* lines."}\n\nThese are shown.' },
];

export default async function ownViews(t) {
  const dir = mkdtempSync(join(tmpdir(), "fettle-page-own-"));
  t.closers.push(() => rmSync(dir, { recursive: true, force: true }));
  bundle(dir, 1);
  const server = await t.serve({ args: ["--model", "script/model.yaml"], toolsets: [dir], models: { "model.yaml": script(answers) } });
  const page = await t.open(server, { width: 1700 });
  await chat(page).ask("show");
  await page.getByText("These are shown.").waitFor();
  await chat(page).done();
  await shown(t, page, "at first");
  await t.axe(page, "own views");
  await t.shot(page, "cards");
  await page.reload();
  await shown(t, page, "after a reload");
  bundle(dir, 2);
  server.run("toolset", "import", dir, "--yes");
  await page.reload();
  await shown(t, page, "after an update of the bundle");
  server.run("toolset", "rm", "ownviews", "--yes");
  await page.reload();
  await shown(t, page, "after its removal");
}

/** shown expects the payloads in their cards and in the panel, as version 1 of the bundle draws them. */
export async function shown(t, page, when) {
  const list = page.getByRole("list", { name: "What was made" }).getByRole("listitem");
  const panel = page.getByRole("complementary", { name: "Workspace" });
  const result = panel.getByRole("tabpanel", { name: "Result" });
  const of = [
    ["Dial 1", (at) => at.locator("iframe").contentFrame().getByText("value 42"), "Header 1"],
    ["Board 1", (at) => at.locator("iframe").contentFrame().locator("iframe").contentFrame().getByText("board 1 of Ada and Grace, this page belongs to no MCP server"), "Board 1"],
    ["Paper 1", (at) => at.getByRole("heading", { name: "A paper" }), "Paper 1"],
    ["Table 1", (at) => at.getByRole("gridcell", { name: "Grace" }), "Scores"],
  ];
  for (const [label, drawn, header] of of) {
    const card = list.filter({ hasText: label });
    await t.reveal(card.first());
    await drawn(card).waitFor();
    await card.getByRole("button", { name: "Open in workspace" }).click();
    await drawn(result).waitFor();
    await panel.getByRole("heading", { name: header, exact: true }).waitFor();
  }
  t.equal(await list.count(), 4, `cards ${when}`);
  await list.filter({ hasText: "Dial 1" }).getByRole("button", { name: "Open in workspace" }).click();
  await result.locator("iframe").contentFrame().getByText("Dial of version 1").waitFor();
  await t.until(`the panel is 700 px wide ${when}`, async () => (await panel.boundingBox()).width, (width) => width >= 699);
  t.ok((await result.locator("iframe").boundingBox()).height > 300, `the page fills the panel ${when}`);
  await list.filter({ hasText: "Paper 1" }).getByRole("button", { name: "Open in workspace" }).click();
  await t.until(`the panel has its own width again ${when}`, async () => (await panel.boundingBox()).width, (width) => width < 690);
}
