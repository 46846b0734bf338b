// The states of a chat's files: the branches of the chat beside each other, by pointer
// and by keyboard; what differs, what was, the way back, and the next branch. And a
// thousand of them.
import { chat } from "../kit.mjs";
import { call, script } from "../models.mjs";

const writing = (word) => [
  { when: `^write ${word}$`, step: 0, calls: [call("write_file", { path: `notes/${word}.md`, content: `# ${word}\n` }), call("write_file", { path: "shared.md", content: `of ${word}\n` })] },
  { when: `^write ${word}$`, step: 1, text: `${word} is written.` },
];
const model = script(["plan", "draft", "letter"].flatMap(writing));
const many = 1000;

export default async function timeline(t) {
  const server = await t.serve({ args: ["--model", "script/model.yaml"], models: { "model.yaml": model } });
  const page = await t.open(server);
  const ui = chat(page);
  await ui.ask("write plan");
  await page.getByText("plan is written.").waitFor();
  await ui.done();
  // The question in other words: the files go back, and another branch begins.
  await page.getByTestId("chat").getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByRole("textbox", { name: "Question" }).fill("write draft");
  await page.getByRole("button", { name: "Ask again" }).click();
  await page.getByText("draft is written.").waitFor();
  await ui.done();
  await ui.ask("write letter");
  await page.getByText("letter is written.").waitFor();
  await ui.done();

  await oneCall(t, page);

  await ui.tab("Timeline").click();
  const grid = page.getByRole("grid", { name: "States, the latest first" });
  const row = (name) => grid.getByRole("row").filter({ hasText: name });
  await row("notes/letter.md").waitFor();
  const ended = row("end of the branch");
  t.ok(/shared\.md/.test(await ended.innerText()), "the first branch ended with its second file");
  t.ok(/on another branch/.test(await row("notes/plan.md").innerText()), "its first file is on another branch, too");
  const lane = (of) => of.locator("svg").first().locator("circle").evaluate((dot) => Number(dot.getAttribute("cx")));
  t.ok((await lane(ended)) > (await lane(row("notes/letter.md"))), "the branch has a lane of its own");
  await t.axe(page, "the timeline");
  await t.shot(page, "lanes");
  await keys(t, page, grid);

  // What it changed, the files as they were, and the way back.
  await ended.getByRole("button", { name: /^More about/ }).click();
  await page.getByRole("menuitem", { name: "What it changed" }).click();
  await page.getByText("+of plan").waitFor();
  await t.shot(page, "diff");
  await page.keyboard.press("Escape");
  await grid.waitFor();
  await t.until("Escape leads back to the state that was looked at", () => ended.evaluate((row) => row.contains(document.activeElement)));
  const rows = await grid.getByRole("row").count();
  await ended.getByRole("button", { name: "Bring this state back" }).click();
  await t.until("the state of the other branch is back", async () => (await grid.getByRole("row").count()) > rows);
  const { id } = (await server.api("/api/chats")).chats[0];
  const files = async () => (await server.api(`/api/chats/${id}/workspace/files`)).files.map((f) => f.path).filter((f) => f.endsWith(".md"));
  t.equal(await files(), ["notes/plan.md", "shared.md"], "files after it was brought back");
  await page.getByRole("tabpanel", { name: "Timeline" }).getByRole("button", { name: "Undo", exact: true }).click();
  await t.until("undo takes it back", async () => (await files()).includes("notes/letter.md"));
  await row("undone").first().waitFor();
  await t.shot(page, "undone");

  // The branch goes on: its messages and its files.
  await row("end of the branch").first().getByRole("button", { name: /^More about/ }).click();
  await page.getByRole("menuitem", { name: "Go on in this branch" }).click();
  await page.getByText("plan is written.").waitFor();
  await t.until("its files are there", async () => (await files()).join() === "notes/plan.md,shared.md");
  await large(t, server, page, id);
}

/** oneCall undoes calls of an earlier answer: one whose file a later call changed, which is listed, and another, which is marked. */
async function oneCall(t, page) {
  t.allow(/status of 409 .*workspace\/undo/, /status of 404 .*notes\/draft\.md/); // the conflict, and the file while it is undone
  const card = (file) => page.getByRole("button", { name: new RegExp(`^write_file ${file}`) }).first();
  const part = (file) => card(file).locator("xpath=..");
  const undo = (file) => part(file).getByRole("button", { name: "Undo", exact: true });
  await card("shared.md").click();
  await undo("shared.md").click();
  const dialog = page.getByRole("dialog", { name: "1 file was changed since" });
  await dialog.getByText("the later call", { exact: false }).waitFor();
  t.ok(/shared\.md/.test(await dialog.innerText()), "the dialog names the file");
  await t.axe(page, "the conflicts of an undo");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await card("notes/draft.md").click();
  await undo("notes/draft.md").click();
  await part("notes/draft.md").getByText("1 file changed, undone").waitFor();
  await t.shot(page, "undone call");
  await page.getByRole("status").getByRole("button", { name: "Redo" }).or(page.getByRole("button", { name: "Redo", exact: true })).first().click();
  await part("notes/draft.md").getByText("1 file changed", { exact: true }).waitFor();
  await card("notes/draft.md").click();
  await card("shared.md").click();
}

/** keys walks through the grid: one stop of Tab, arrows among states and actions. */
async function keys(t, page, grid) {
  const at = () => page.evaluate(() => {
    const cell = document.activeElement?.closest("[data-row]");
    return cell ? `${cell.dataset.row}/${cell.dataset.column}` : (document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.tagName);
  });
  const is = (want, what) => t.until(what, async () => (await at()) === want);
  await page.getByRole("tabpanel", { name: "Timeline" }).getByRole("button", { name: "Undo", exact: true }).focus();
  await page.keyboard.press("Tab");
  await is("0/0", "Tab leads to the state that the chat is at");
  await page.keyboard.press("ArrowDown");
  await is("1/0", "an arrow leads to the next state");
  await page.keyboard.press("ArrowRight");
  await is("1/1", "an arrow leads to what can be done with it");
  await page.keyboard.press("End");
  await is(`${Number(await grid.getAttribute("aria-rowcount")) - 1}/0`, "End leads to the first state");
  await page.keyboard.press("Home");
  await is("0/0", "Home leads to the latest");
  const stops = await grid.locator('[tabindex="0"]').count();
  t.equal(stops, 1, "stops of Tab among the states");
}

/** large has a thousand states, of which those in sight are drawn. */
async function large(t, server, page, id) {
  const headers = { Authorization: `Bearer ${server.token}`, "Content-Type": "application/octet-stream" };
  for (let i = 0; i < many; i++) {
    const res = await fetch(`${server.url}/api/chats/${id}/workspace/files/f/${i % 40}.txt`, { method: "PUT", headers, body: `text ${i}\n` });
    t.ok(res.ok, `file ${i} is written: ${res.status}`);
  }
  await page.reload();
  await page.getByRole("complementary", { name: "Workspace" }).getByRole("tab", { name: "Timeline" }).click();
  const grid = page.getByRole("grid", { name: "States, the latest first" });
  await grid.getByRole("row").filter({ hasText: "now" }).first().waitFor();
  t.ok((await grid.getByRole("row").count()) < 60, "the rows in sight are drawn, and no others");
  await page.getByRole("button", { name: "Show older states" }).click();
  await t.until("a thousand are listed", async () => (await grid.getAttribute("aria-rowcount")) === String(many));
  const begun = Date.now();
  await grid.getByRole("row").first().getByRole("button").first().press("End");
  await grid.locator(`[data-row="${many - 1}"]`).first().waitFor();
  t.figure(`${many} states are listed, and their end is reached in ${Date.now() - begun} ms`);
  t.ok((await grid.getByRole("row").count()) < 60, "the rows at the end are drawn, and few others");
  await t.shot(page, "thousand");
}
