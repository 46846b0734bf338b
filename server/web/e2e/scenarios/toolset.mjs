// A bundle is imported, approved, run and looked at; what it wrote is edited, and the
// edit is undone.
import { join } from "node:path";
import { project } from "../server.mjs";
import { chat } from "../kit.mjs";
import { call, script } from "../models.mjs";

const written = "export const limit = 10;\n";
const model = script([
  { when: "^look", step: 0, text: "I read the reviews.", calls: [call("analyze_reviews", { business_name: "Blue Door Bakery", source: "all" })] },
  { when: "^look", step: 1, text: "These are the reviews." },
  { when: "^write", step: 0, calls: [call("app-builder:write_file", { path: "src/limit.js", content: written })] },
  { when: "^write", step: 1, text: "It is written." },
]);

export default async function toolset(t) {
  const server = await t.serve({ args: ["--model", "script/model.yaml"], models: { "model.yaml": model } });
  const page = await t.open(server);
  const ui = chat(page);
  for (const [id, name, from] of [["reviews", "Reviews 1.0.0", "toolset/gallery"], ["app-builder", "App Builder 1.0.0", "testdata/toolsets"]]) {
    const bundle = join(server.work, `${id}.zip`);
    server.run("toolset", "pack", join(project, from, id), "-O", bundle);
    if (!(await page.getByRole("dialog", { name: "Toolsets" }).isVisible())) await page.getByRole("navigation", { name: "Chats" }).getByRole("button", { name: "Toolsets" }).click();
    const choosing = page.waitForEvent("filechooser");
    await page.getByRole("dialog", { name: "Toolsets" }).getByRole("button", { name: "Import…" }).click();
    await (await choosing).setFiles(bundle);
    const sheet = page.getByRole("dialog", { name });
    const approve = sheet.getByRole("button", { name: "Approve and install" });
    await approve.waitFor();
    t.ok(!(await server.api("/api/toolsets")).toolsets.some((s) => s.id === id), "nothing is installed before it is approved");
    await t.shot(page, `consent-${id}`);
    if (id === "reviews") await t.axe(page, "the consent sheet");
    const read = sheet.getByRole("checkbox");
    if ((await read.count()) > 0) await read.check();
    await approve.click();
    await page.getByRole("dialog", { name: "Toolsets" }).getByRole("heading", { name }).waitFor();
  }
  await t.shot(page, "manager");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });

  // Run, and rendered in a frame of another origin.
  const workspace = page.getByRole("complementary", { name: "Workspace" });
  await ui.ask("look at the bakery");
  await page.getByText("These are the reviews.").waitFor();
  let answer = await ui.done();
  await answer.getByRole("button", { name: /^analyze_reviews/ }).click();
  await answer.getByRole("button", { name: "Open in workspace" }).first().click();
  const frame = workspace.locator("iframe");
  await frame.contentFrame().getByText("Blue Door Bakery").first().waitFor();
  const source = new URL(await frame.getAttribute("src"));
  t.ok(source.origin !== server.url, `the frame is of another origin: ${source.origin}`);
  t.equal(await frame.getAttribute("sandbox"), "allow-scripts", "the frame's rights");
  await t.shot(page, "html");

  // The same for a file: as code, edited, saved, and taken back.
  await ui.ask("write it");
  await page.getByText("It is written.").waitFor();
  answer = await ui.done();
  const id = page.url().split("/c/")[1];
  const file = () => server.api(`/api/chats/${id}/workspace/files/src/limit.js`, { raw: true });
  t.equal(await file(), written, "the file that the tool wrote");
  await answer.getByRole("button", { name: /write_file/ }).click();
  await answer.getByRole("button", { name: "Open in workspace" }).first().click();
  const editor = workspace.getByRole("textbox", { name: "src/limit.js" });
  await editor.waitFor();
  await t.shot(page, "code");
  await editor.click();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.type("// changed by hand");
  await workspace.getByRole("button", { name: "Save", exact: true }).click();
  // While it is saved the button has another name: that it is gone says nothing yet.
  await page.getByText("Saved src/limit.js").waitFor();
  await workspace.getByText("Not saved").waitFor({ state: "detached" });
  t.equal(await file(), written + "// changed by hand", "the file as it was saved");
  const { states } = await server.api(`/api/chats/${id}/workspace/states`);
  t.ok(states.find((s) => s.active)?.source === "edit", `the save is a step of its own: ${JSON.stringify(states.map((s) => s.source))}`);

  await ui.tab("Timeline").click();
  await t.until("there are states", async () => (await workspace.getByRole("grid", { name: "States, the latest first" }).getByRole("row").count()) >= 2);
  await t.shot(page, "timeline");
  await workspace.getByRole("button", { name: "Undo", exact: true }).click();
  await t.until("the edit is undone", async () => (await file()) === written);
  await workspace.getByRole("button", { name: "Redo", exact: true }).click();
  await t.until("the edit is done again", async () => (await file()) !== written);
  await workspace.getByRole("button", { name: "Undo", exact: true }).click();
  await t.until("the edit is undone again", async () => (await file()) === written);
  await ui.tab("Files").click();
  await workspace.getByRole("treeitem", { name: /src/ }).first().waitFor();
  await t.shot(page, "files");
}
