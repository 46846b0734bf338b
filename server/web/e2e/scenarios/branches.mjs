// Edit, answer again, the switch between branches, a fork, and the menu of a chat.
import { chat } from "../kit.mjs";
import { script } from "../models.mjs";

const model = script([
  { when: "^a question$", text: "An answer to the first." },
  { when: "^another question$", text: "An answer to the second." },
  { when: "^slowly$", deltas: Array.from({ length: 100 }, (_, i) => ({ wait: "60ms", content: `slow${i} ` })) },
  { when: "^more$", text: "More of it." },
]);

export default async function branches(t) {
  const server = await t.serve({ args: ["--model", "script/model.yaml"], models: { "model.yaml": model } });
  const page = await t.open(server);
  const ui = chat(page);
  const log = page.getByRole("log", { name: "Messages" });
  await ui.ask("a question");
  await page.getByText("An answer to the first.").waitFor();
  await ui.done();

  // Edit: the question becomes another one, and the first stays as a branch.
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  const field = page.getByRole("textbox", { name: "Question" });
  await field.fill("another question");
  await page.getByRole("button", { name: "Ask again" }).click();
  await page.getByText("An answer to the second.").waitFor();
  await ui.done();
  const group = log.getByRole("group", { name: "Branches" });
  await group.first().waitFor();
  t.ok(/2 \/ 2/.test(await group.first().innerText()), "the second branch of two is shown");
  await t.shot(page, "two-branches");
  await t.axe(page, "branches");
  await group.first().getByRole("button", { name: "Earlier branch" }).click();
  await page.getByText("An answer to the first.").waitFor();
  t.equal(await page.getByText("An answer to the second.").count(), 0, "answers of the other branch");
  await group.first().getByRole("button", { name: "Later branch" }).click();
  await page.getByText("An answer to the second.").waitFor();

  // Answer again: a sibling of the answer.
  await page.getByRole("button", { name: "Answer again" }).click();
  await t.until("the answer has a sibling", async () => /2 \/ 2/.test(await ui.answers.last().innerText()));
  await ui.done();

  // A reload while a question is edited shows the branch that is being made.
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await field.fill("slowly");
  await page.getByRole("button", { name: "Ask again" }).click();
  await page.getByText("slow5 ").waitFor();
  await page.reload();
  await page.getByText("slow9 ").waitFor();
  t.equal(await page.getByText("An answer to the second.").count(), 0, "answers of the other branch during the edit");
  t.equal(await log.getByText("slowly", { exact: true }).count(), 1, "questions that are being answered");
  await page.getByText("slow99").waitFor();
  await ui.done();
  await group.first().getByRole("button", { name: "Earlier branch" }).click();
  await page.getByText("An answer to the second.").waitFor();

  // Fork: a chat of its own, and the first is as it was.
  const before = page.url();
  await page.getByRole("button", { name: "Fork the chat from here" }).last().click();
  await page.waitForURL((url) => url.href !== before && url.pathname.startsWith("/c/"));
  await page.getByText("An answer to the second.").waitFor();
  await ui.ask("more");
  await page.getByText("More of it.").waitFor();
  await ui.done();
  await page.goto(before);
  await page.getByText("An answer to the second.").waitFor();
  t.equal(await page.getByText("More of it.").count(), 0, "answers of the fork in the chat it came from");
  t.equal((await server.api("/api/chats")).chats.length, 2, "chats");
  await rename(t, page);
}

/** rename opens the chat's menu by the keyboard and by the pointer, and gives the chat another name. */
async function rename(t, page) {
  const button = page.getByRole("button", { name: "Chat menu" });
  const menu = page.getByRole("menu", { name: "Chat menu" });
  const item = (name) => menu.getByRole("menuitem", { name });
  const focused = (what) => t.until(`the focus is on ${what}`, () => page.evaluate((name) => (document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent) === name, what));
  await button.focus();
  await page.keyboard.press("Enter");
  await focused("Rename");
  const [above, below] = [await button.boundingBox(), await menu.boundingBox()];
  t.ok(Math.abs(above.x + above.width - below.x - below.width) < 2 && below.y >= above.y + above.height, `the menu stands below its button: ${JSON.stringify([above, below])}`);
  await t.axe(page, "an open menu");
  await t.shot(page, "menu");
  await page.keyboard.press("ArrowDown");
  await focused("Fork");
  await page.keyboard.press("Escape");
  await menu.waitFor({ state: "detached" });
  await focused("Chat menu");
  await page.mouse.move(0, 0);
  await button.hover();
  await page.getByRole("tooltip").getByText("Chat menu").waitFor();
  await t.shot(page, "tooltip");
  await button.click();
  await page.getByRole("tooltip").waitFor({ state: "detached" });
  await item("Rename").click();
  const title = page.getByRole("textbox", { name: "Title" });
  await title.fill("Another name");
  await title.press("Enter");
  await page.getByRole("heading", { name: "Another name" }).waitFor();
}
