// What was typed is there after a reload, and the chats are listed before the server
// has answered.
import { chat } from "../kit.mjs";
import { script } from "../models.mjs";

const model = script([{ when: "", text: "Noted." }]);

export default async function draft(t) {
  const server = await t.serve({ args: ["--model", "script/model.yaml"], models: { "model.yaml": model } });
  const page = await t.open(server);
  const ui = chat(page);
  await ui.ask("remember the milk");
  await page.getByText("Noted.").waitFor();
  await ui.done();
  await ui.message.fill("half a thought\nand its second line");
  await page.reload();
  await t.until("the draft is there", async () => (await ui.message.inputValue()) === "half a thought\nand its second line");

  // A draft belongs to its chat.
  await page.getByRole("button", { name: "New chat" }).click();
  await t.until("a new chat has no draft", async () => (await ui.message.inputValue()) === "");
  // Keys are words there, and no shortcuts.
  await page.keyboard.type("n/t?");
  t.equal(await ui.message.inputValue(), "n/t?", "what is typed after New chat");
  await ui.message.fill("");
  await page.goBack();
  await t.until("the draft is there again", async () => (await ui.message.inputValue()).startsWith("half a thought"));

  // The server keeps silent: what it said before is shown.
  let open = () => {};
  const held = new Promise((resolve) => (open = resolve));
  await page.route("**/api/**", async (route) => {
    await held;
    await route.continue();
  });
  await page.reload();
  const list = page.getByRole("navigation", { name: "Chats" }).getByRole("list", { name: "Chats" });
  await list.getByText("remember the milk").waitFor();
  await page.getByRole("log", { name: "Messages" }).getByText("remember the milk").waitFor();
  await t.shot(page, "from-the-cache");
  open();
  await page.unrouteAll({ behavior: "wait" });
  await page.getByText("Noted.").first().waitFor();
}
