// The main states in dark and light, by axe: nothing serious, nothing critical.
import { chat } from "../kit.mjs";
import { call, script } from "../models.mjs";

const text = "# A heading\n\nSome **bold** text, `code`, a [link](https://example.org/) and a table:\n\n| a | b |\n|---|--:|\n| one | 1 |\n\n```js\nconst a = 1;\n```\n\n1. first\n2. second\n\n> quoted";
const model = script([
  { when: "^rich", step: 0, reasoning: "I should write a file first.", text: "I write it.", calls: [call("write_file", { path: "notes/plan.md", content: "# Plan\n\n- one\n- two\n" }), call("read_file", { path: "nothing.txt" })] },
  { when: "^rich", step: 1, text },
  { when: "^fail", error: { kind: "unreachable", message: "the model can't be reached" } },
]);

export default async function a11y(t) {
  const server = await t.serve({ args: ["--model", "script/model.yaml"], models: { "model.yaml": model } });
  let id = "";
  for (const theme of ["dark", "light"]) {
    const page = await t.open(server, { theme });
    const ui = chat(page);
    const look = async (state) => {
      await t.axe(page, `${state}, ${theme}`);
      await t.shot(page, `${state.replaceAll(" ", "-")}-${theme}`);
    };
    await page.getByRole("heading", { name: "What shall be done?" }).waitFor();
    await look("first visit");
    if (!id) {
      await ui.ask("rich, please");
      await page.getByText("quoted").waitFor();
      await ui.done();
      id = page.url().split("/c/")[1];
    } else {
      await page.goto(`${server.url}/c/${id}`);
      await page.getByText("quoted").waitFor();
    }
    await look("an answer");
    const answer = ui.answers.first(); // a failure may follow it
    await answer.getByRole("button", { name: /^write_file/ }).click();
    await answer.getByRole("list", { name: "Files changed" }).waitFor();
    await look("an open card");
    await answer.getByRole("button", { name: "Open in workspace" }).first().click();
    await page.getByRole("complementary", { name: "Workspace" }).getByRole("tab", { name: "Input" }).waitFor();
    await look("a call");
    for (const [tab, there] of [["Files", "notes"], ["Timeline", "Undo"]]) {
      await ui.tab(tab).click();
      await page.getByRole("complementary", { name: "Workspace" }).getByText(there, { exact: false }).first().waitFor();
      await look(tab.toLowerCase());
    }
    await page.getByRole("button", { name: "Show tools and settings" }).click();
    const context = page.getByRole("complementary", { name: "Tools and settings" });
    for (const tab of ["Tools", "Agents", "Assets", "Settings"]) {
      await context.getByRole("tab", { name: tab, exact: true }).click();
      await context.getByRole("tabpanel", { name: tab }).waitFor();
      await t.until("the panel has loaded", async () => (await context.locator("[aria-busy=true], .animate-pulse").count()) === 0);
      await look(`panel of ${tab.toLowerCase()}`);
    }
    await page.getByRole("navigation", { name: "Chats" }).getByRole("button", { name: "Toolsets" }).click();
    await page.getByRole("dialog", { name: "Toolsets" }).waitFor();
    await look("toolset manager");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
    await page.getByRole("dialog").waitFor();
    await look("shortcuts");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    if (theme === "dark") {
      await ui.ask("fail now");
      await page.getByRole("button", { name: "Try again" }).first().waitFor();
      await look("a failure");
    }
  }
}
