// A command waits for a person: Enter doesn't allow it, Allow runs it, Deny tells the
// model why, and another page sees that it was answered.
import { chat } from "../kit.mjs";
import { call, script } from "../models.mjs";

const command = "printf 'it ran\\n' > ran.txt";
const model = script([
  { when: "^run", step: 0, text: "I need a command for that.", calls: [call("run_command", { command })] },
  { when: "^run", step: 1, seen: "denied", text: "Then I leave it." },
  { when: "^run", step: 1, text: "It is done." },
]);

export default async function approval(t) {
  const server = await t.serve({ args: ["--model", "script/model.yaml"], models: { "model.yaml": model } });
  const page = await t.open(server);
  const ui = chat(page);
  const started = page.waitForRequest(/\/api\/turns\/\w+\/events/);
  await ui.ask("run it");
  const turn = /turns\/(\w+)/.exec((await started).url())[1];
  const card = page.getByRole("region", { name: /run_command needs your approval/ });
  await card.waitFor();
  await card.getByText(command).waitFor(); // the whole command: the code that draws it is loaded with the first card
  const allow = card.getByRole("button", { name: "Allow once" });
  await page.waitForURL(/\/c\//);
  const id = page.url().split("/c/")[1];
  const approvals = async () => (await server.api(`/api/turns/${turn}/approvals`)).approvals;
  const asked = await approvals();
  t.equal(asked.length, 1, "open approvals");

  // A hand that still types doesn't decide.
  for (const key of ["Enter", "Enter", "Space"]) await page.keyboard.press(key);
  await t.until("Allow once can be used", () => allow.isEnabled());
  for (const key of ["Enter", "Enter"]) await page.keyboard.press(key);
  t.equal((await approvals()).length, 1, "open approvals after Enter");
  await t.shot(page, "asks");
  await t.axe(page, "an approval");

  const second = await t.open(server, { path: `/c/${id}` });
  const other = second.getByRole("region", { name: /run_command needs your approval/ });
  await other.waitFor();
  await allow.click();
  await page.getByText("It is done.").waitFor();
  await ui.done();
  await other.waitFor({ state: "detached" });
  await second.getByText("It is done.").waitFor();
  t.equal(await server.api(`/api/chats/${id}/workspace/files/ran.txt`, { raw: true }), "it ran\n", "the file that the command wrote");

  // Denied, with a reason that the model is told.
  await ui.ask("run it again");
  const next = page.getByRole("region", { name: /run_command needs your approval/ });
  await next.getByRole("textbox").fill("not on a Saturday");
  await t.until("Deny can be used", () => next.getByRole("button", { name: "Deny" }).isEnabled());
  await next.getByRole("button", { name: "Deny" }).click();
  await page.getByText("Then I leave it.").waitFor();
  await ui.done();
  t.equal(await ui.answers.last().getByLabel("Denied").count(), 1, "cards of a call that was denied");
  const said = JSON.stringify(await server.api(`/api/chats/${id}/messages`));
  t.ok(said.includes("not on a Saturday"), "the model is told the reason");
  await t.shot(page, "denied");
}
