// The page and the tab that the user chooses on fettle's own page have their context, their
// payload types and their actions; suggestions are buttons, and the model reads that no
// program has carried out an action, unless one has acknowledged it.
import { chat } from "../kit.mjs";
import { script } from "../models.mjs";

export const model = script([
  { when: "^propose", text: 'Here: SCHEMA_PROPOSAL: {"proposed_changes": {"stream_name": "Night shifts"}, "reasoning": "It says what it is about."}\n\nShall I?' },
  { when: "^suggest", text: 'SUGGESTED_VALUES: [{"label": "Each week", "value": "weekly"}]\n\nSUGGESTED_ACTIONS: [{"label": "Apply it", "type": "apply_schema_proposal", "metadata": {"proposed_changes": {}}}]\n\nHow often?' },
  { when: "no program has reported", text: "The model knows that nothing was done." },
  { when: "their program reported", text: "The model knows that it was done." },
  { when: "took the action value_selected", text: "The value was picked." },
  { when: "", text: "Hello." },
]);

export default async function pages(t) {
  const server = await t.serve({ args: ["--model", "script/model.yaml"], models: { "model.yaml": model }, toolsets: ["gallery:research-streams"] });
  const page = await t.open(server);
  const ui = chat(page);
  const cards = page.getByRole("list", { name: "What was made" }).getByRole("listitem");
  await ui.ask("propose");
  await page.getByText("Shall I?").waitFor();
  await ui.done();
  t.equal(await cards.count(), 0, "payloads without a page");
  await page.getByRole("combobox", { name: "Page", exact: true }).selectOption({ label: "Edit a research stream" });
  await page.getByRole("combobox", { name: "Tab", exact: true }).selectOption("presentation");
  await ui.ask("propose");
  await t.until("two answers", () => page.getByText("Shall I?").count(), (n) => n === 2);
  await ui.done();
  t.equal(await cards.count(), 0, "payloads on another tab");
  await page.getByRole("combobox", { name: "Tab", exact: true }).selectOption("semantic");
  await ui.ask("propose");
  await cards.first().waitFor();
  await ui.done();

  await ui.ask("suggest");
  await page.getByRole("button", { name: "Each week" }).waitFor();
  await ui.done();
  await t.axe(page, "suggestions");
  await page.getByRole("button", { name: "Apply it" }).click();
  await page.getByText("The model knows that nothing was done.").waitFor();
  await ui.done();
  await ui.ask("suggest again");
  await ui.done();
  await page.getByRole("button", { name: "Each week" }).last().click();
  await page.getByText("The value was picked.").waitFor();
}
