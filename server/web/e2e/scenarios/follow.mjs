// The workspace panel follows the answers: what was opened from a card gives way to the next
// answer's result, unless it is kept; results are there after a reload and in a chat that is
// opened again.
import { chat } from "../kit.mjs";
import { call, script } from "../models.mjs";

const bakery = { business_name: "Blue Door Bakery", location: "Portland, OR" };
const model = script([
  { when: "^analyze", step: 0, calls: [call("analyze_reviews", bakery)] },
  { when: "^collect", step: 0, calls: [call("collect_reviews", bakery)] },
  { when: "^verify", step: 0, calls: [call("verify_business", bakery)] },
  { when: "", text: "Done." },
]);

export default async function follow(t) {
  const server = await t.serve({ args: ["--model", "script/model.yaml"], models: { "model.yaml": model }, toolsets: ["gallery:reviews"] });
  const page = await t.open(server, { width: 1700 });
  const ui = chat(page);
  const panel = page.getByRole("complementary", { name: "Workspace" });
  const shows = (title) => panel.getByRole("heading", { name: title, level: 2 }).waitFor();
  const open = (title) => page.getByRole("list", { name: "What was made" }).getByRole("listitem").filter({ hasText: title }).first().getByRole("button", { name: "Open in workspace" }).click();
  const asks = async (text) => {
    const turns = async () => (await server.api("/api/chats")).chats.reduce((sum, c) => sum + (c.turn_id ? 0 : c.messages), 0);
    const before = await turns(); // the page has no answers that are scrolled away
    await ui.ask(text);
    await t.until(`the answer to ${text}`, turns, (n) => n === before + 2);
    await ui.done();
  };
  await asks("analyze the long question of a user who has more to say than forty characters");
  await shows("Review Analysis: Blue Door Bakery");
  t.ok((await page.getByRole("heading", { level: 1 }).innerText()).includes("than forty characters"), "the whole question is the chat's title");
  // The card of the call begins with the same view, and has the raw JSON last.
  await ui.card("analyze_reviews").click();
  const parts = page.getByRole("group", { name: "What of the call is shown" }).getByRole("button");
  t.equal(await parts.allInnerTexts(), ["View", "Output", "Input"], "the parts of the card");
  t.equal(await parts.first().getAttribute("aria-pressed"), "true", "the card begins with the view");
  await ui.card("analyze_reviews").click();
  await asks("collect");
  await shows("Reviews: Blue Door Bakery");

  // Opened from its card, a result gives way to the next one.
  await open("Review Analysis");
  await shows("Review Analysis: Blue Door Bakery");
  await asks("verify");
  await shows(/Which|Verif|Blue Door/);
  t.ok(!(await panel.getByRole("heading", { name: "Review Analysis: Blue Door Bakery", level: 2 }).isVisible()), "the opened result gave way");

  // Kept, it stays.
  await open("Verify");
  await panel.getByRole("button", { name: "Follow the answer" }).click();
  await asks("collect again");
  await shows("Reviews: Blue Door Bakery");
  await panel.getByRole("button", { name: "Keep this shown" }).click();
  await asks("analyze again");
  await shows("Reviews: Blue Door Bakery");
  t.ok(!(await panel.getByRole("heading", { name: "Review Analysis: Blue Door Bakery", level: 2 }).isVisible()), "the kept result stayed");

  // All results are there again, whatever was said since.
  await asks("hello");
  const cards = page.getByRole("list", { name: "What was made" }).getByRole("listitem");
  await page.reload();
  await shows("Review Analysis: Blue Door Bakery");
  await cards.filter({ hasText: "Review Analysis" }).last().waitFor();
  await cards.filter({ hasText: "Reviews: Blue Door" }).last().waitFor();
  const address = page.url();
  await page.getByRole("button", { name: "New chat" }).click();
  await asks("hello");
  await page.goto(address);
  await shows("Review Analysis: Blue Door Bakery");
}
