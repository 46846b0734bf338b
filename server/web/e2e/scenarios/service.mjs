// A tool that lives on after its call: its page in a frame of its own origin, a second
// call of the same process, stopped, started again, and gone with its chat.
import { join } from "node:path";
import { project } from "../server.mjs";
import { chat } from "../kit.mjs";
import { call, script } from "../models.mjs";

const model = script([
  { when: "^first", step: 0, calls: [call("show", { note: "buy rye flour" })] },
  { when: "^first", step: 1, text: "It is on the board." },
  { when: "^second", step: 0, calls: [call("show", { note: "call the miller" })] },
  { when: "^second", step: 1, text: "So is this." },
]);

export default async function service(t) {
  const server = await t.serve({ args: ["--model", "script/model.yaml"], toolsets: [join(project, "testdata/toolsets/board")], models: { "model.yaml": model } });
  const page = await t.open(server);
  const ui = chat(page);
  const workspace = page.getByRole("complementary", { name: "Workspace" });
  const frame = workspace.locator("iframe");
  const items = () => frame.contentFrame().getByRole("listitem").allInnerTexts();
  const running = async () => (await server.api("/api/services")).services;
  const show = async (answer) => {
    await answer.getByRole("button", { name: /^show/ }).click();
    await answer.getByRole("button", { name: "Open in workspace" }).first().click();
  };

  await ui.ask("first");
  await page.getByText("It is on the board.").waitFor();
  await show(await ui.done());
  await frame.contentFrame().getByRole("heading", { name: "Board" }).waitFor();
  t.equal(await items(), ["buy rye flour"], "the page of the service");
  const address = new URL(await frame.getAttribute("src"));
  t.ok(address.hostname.endsWith(".localhost") && address.origin !== server.url, `the frame has an origin of its own: ${address.origin}`);
  t.ok(!(await frame.getAttribute("sandbox")).includes("top-navigation"), "the frame stays where it is");
  await t.axe(page, "the view of a service");
  await t.shot(page, "running");

  // The same process serves the second call: it has kept the first note.
  await ui.ask("second");
  await page.getByText("So is this.").waitFor();
  await show(await ui.done());
  await t.until("both notes are shown", async () => JSON.stringify(await items().catch(() => [])) === JSON.stringify(["buy rye flour", "call the miller"]));
  t.equal((await running()).length, 1, "services that run");

  await workspace.getByRole("button", { name: "Stop service" }).click();
  await workspace.getByText("The service has ended").waitFor();
  t.equal(await frame.count(), 0, "frames of a service that has ended");
  t.equal((await running()).length, 0, "services that run after it was stopped");
  await t.shot(page, "ended");

  await workspace.getByRole("button", { name: "Start again" }).click();
  await frame.contentFrame().getByRole("heading", { name: "Board" }).waitFor();
  t.equal(await items(), ["call the miller"], "the page of the service that was started again");
  t.ok(new URL(await frame.getAttribute("src")).origin !== address.origin, "a name is never used again");

  const id = page.url().split("/c/")[1];
  await server.api(`/api/chats/${id}`, { method: "DELETE" });
  t.equal((await running()).length, 0, "services of a chat that was deleted");
}
