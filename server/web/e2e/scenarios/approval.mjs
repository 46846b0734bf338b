// A command waits for the user: Enter doesn't allow it, Allow runs it, Deny tells the
// model why, and another page sees that it was answered. In the mode "Review changes" the
// command runs first, and the user applies a part of its changes. If the server is killed
// while it waits, the page offers the changes afterwards.
import { chat } from "../kit.mjs";
import { call, script } from "../models.mjs";

const command = "printf 'it ran\\n' > ran.txt";
const model = script([
  { when: "^run", step: 0, text: "I need a command for that.", calls: [call("run_command", { command })] },
  { when: "^run", step: 1, seen: "denied", text: "Then I leave it." },
  { when: "^run", step: 1, text: "It is done." },
  { when: "^change", step: 0, calls: [call("run_command", { command: "rm ran.txt; echo new > made.txt; echo printed" })] },
  { when: "^cut", step: 0, calls: [call("run_command", { command: "echo more >> made.txt; echo cut > cut.txt" })] },
  { when: "^change", step: 1, seen: "keep the old one", text: "One is changed." },
]);

export default async function approval(t) {
  const args = ["--model", "script/model.yaml"];
  const server = await t.serve({ args, models: { "model.yaml": model } });
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

  // The chat keeps the mode that was chosen.
  await page.getByRole("combobox", { name: "Approvals" }).selectOption("changes");
  await t.until("the chat has the mode", async () => (await server.api(`/api/chats/${id}`)).chat.approvals === "changes");
  await ui.ask("change it");
  const review = page.getByRole("region", { name: /Apply the changes of run_command to 2 files/ });
  const first = review.or(page.getByRole("region", { name: /run_command needs your approval/ }));
  await first.waitFor();
  if ((await review.count()) === 0) return; // no overlay can be mounted here, so it asks before
  await review.getByText("+new").waitFor();
  await t.shot(page, "review");
  await t.axe(page, "a review");
  await review.getByRole("checkbox", { name: "Apply ran.txt" }).uncheck();
  await review.getByRole("textbox").fill("keep the old one");
  const apply = review.getByRole("button", { name: "Apply 1 of 2" });
  await t.until("Apply can be used", () => apply.isEnabled());
  await apply.click();
  await page.getByText("One is changed.").waitFor();
  await ui.done();
  const { files } = await server.api(`/api/chats/${id}/workspace/files`);
  t.equal(files.map((f) => f.path).sort().join(" "), "made.txt ran.txt", "the files afterwards");

  // The server is killed while a review is open: its changes are offered, and applied.
  await ui.ask("cut it");
  await page.getByRole("region", { name: /Apply the changes of run_command to 2 files/ }).waitFor();
  await Promise.all([page.close(), second.close()]);
  server.child.kill("SIGKILL");
  await server.restart(args);
  const after = await t.open(server, { path: `/c/${id}` });
  const offer = after.getByRole("region", { name: /run_command was cut off/ });
  await offer.getByText("cut.txt", { exact: true }).waitFor();
  await offer.getByText("made.txt", { exact: true }).click();
  await offer.getByText("+more").waitFor();
  await t.shot(after, "cut");
  await t.axe(after, "an offer of what a call wrote");
  t.equal(await server.api(`/api/chats/${id}/workspace/files/made.txt`, { raw: true }), "new\n", "a file before the offer is answered");
  const land = offer.getByRole("button", { name: "Apply" });
  await t.until("Apply of the offer can be used", () => land.isEnabled());
  await land.click();
  await offer.waitFor({ state: "detached" });
  t.equal(await server.api(`/api/chats/${id}/workspace/files/made.txt`, { raw: true }), "new\nmore\n", "the file afterwards");
}
