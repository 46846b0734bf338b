// A phone's width: all panels are reached. And the keyboard alone, through a whole
// question with an approval.
import { chat } from "../kit.mjs";
import { call, script } from "../models.mjs";

const model = script([
  { when: "^run", step: 0, text: "One moment.", calls: [call("run_command", { command: "printf 'by keys\\n' > keys.txt" })] },
  { when: "^run", step: 1, text: "It is done." },
]);
const reach = 120; // so many tabs cross the whole page

export default async function phone(t) {
  const server = await t.serve({ args: ["--model", "script/model.yaml"], models: { "model.yaml": model } });
  const page = await t.open(server, { width: 390, height: 844 });
  const ui = chat(page);
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") || document.activeElement?.textContent?.trim() || "");
  const tabTo = async (name, key = "Tab") => {
    for (let i = 0; i < reach; i++) {
      if (name.test(await focused())) {
        t.ok(await page.evaluate(() => document.activeElement?.matches(":focus-visible") ?? false), `the focus on ${name} is visible`);
        return;
      }
      await page.keyboard.press(key);
    }
    throw new Error(`${reach} times ${key} don't reach ${name}`);
  };

  await ui.message.waitFor();
  await tabTo(/^Message$/);
  await page.keyboard.type("run it, please");
  await page.keyboard.press("Enter");
  const card = page.getByRole("region", { name: /run_command needs your approval/ });
  await card.waitFor();
  await t.shot(page, "approval");
  await t.until("Allow once can be used", () => card.getByRole("button", { name: "Allow once" }).isEnabled());
  await tabTo(/^Allow once$/, "Shift+Tab");
  await page.keyboard.press("Enter");
  await page.getByText("It is done.").waitFor();
  await ui.done();
  await t.shot(page, "answer");

  const panels = page.getByRole("navigation", { name: "Panels" });
  for (const [name, inside] of [
    ["Chats", () => page.getByRole("main").getByRole("button", { name: "New chat" })],
    ["Workspace", () => page.getByRole("main").getByRole("tab", { name: "Files" })],
    ["Tools", () => page.getByRole("main").getByRole("tab", { name: "Settings" })],
    ["Chat", () => page.getByRole("main").getByRole("textbox", { name: "Message" })],
  ]) {
    await tabTo(new RegExp(`^${name}$`));
    await page.keyboard.press("Enter");
    await inside().waitFor();
    t.equal(await panels.getByRole("button", { name, exact: true }).getAttribute("aria-current"), "page", `the panel ${name} is the current one`);
    t.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${name} is no wider than the phone`);
    await t.shot(page, name.toLowerCase());
    await t.axe(page, `the panel ${name} on a phone`);
  }
  t.ok((await ui.message.boundingBox()).height >= 24, "the field for a message has room for a line once its panel is shown again");
  await panels.getByRole("button", { name: "Workspace" }).click();
  await ui.tab("Files").click();
  await page.getByText("keys.txt").first().waitFor();
  await t.shot(page, "files");
}
