// Document 003's demonstration, from a data directory that was never used, by the
// address that the server printed.
import { chat } from "../kit.mjs";

const first = "I'm starting on the login system. What's the final spec?";
const second = "What library should I use for that?";

export default async function demo(t) {
  const server = await t.serve({ args: ["--demo"] });
  const page = await (await t.context()).newPage();
  await page.goto(server.address);
  await page.waitForURL(/\/$/); // the token is out of the address
  const ui = chat(page);
  const suggestion = page.getByRole("main").getByRole("button", { name: /Three agents settle a question/ });
  await suggestion.waitFor();
  t.equal(await page.getByRole("main").getByRole("listitem").count(), 3, "things to try");
  await page.getByText("No chats yet").waitFor();
  t.equal(await page.getByRole("alert").count(), 0, "what a first visit finds wrong");
  await t.shot(page, "first-visit");

  // Each agent is seen as it begins, in this order, while the answer is made.
  await ui.ask(first);
  const thoughts = page.getByRole("region", { name: "Thought process" });
  await thoughts.getByText("▶ interface agent activated").first().waitFor();
  const answer = await ui.done();
  await answer.getByText("Google OAuth only.", { exact: false }).first().waitFor();
  await thoughts.getByRole("button", { name: /interface, scavenger, synthesizer/ }).click();
  const lines = (await thoughts.locator("p").allInnerTexts()).map((line) => line.trim()).filter(Boolean);
  const forms = lines.filter((line) => /^[▶→⇒]/.test(line));
  t.equal(forms, [
    "▶ interface agent activated", "⇒ handing off to scavenger", "▶ scavenger agent activated",
    '→ calling read_notion_mock("login system")', '→ calling read_slack_mock("login system auth")', "⇒ handing off to synthesizer",
    "▶ synthesizer agent activated", "⇒ handing off to interface", "▶ interface agent activated",
  ], "the steps of the thought process");
  const results = lines.filter((line) => line.startsWith("←"));
  t.ok(results.some((line) => line.startsWith("← result: [Notion | MVP")) && results.some((line) => line.startsWith("← result: [Slack | #engineering")), `both results are there: ${results.join(" / ")}`);
  const labels = lines.filter((line) => /^(interface|scavenger|synthesizer)$/i.test(line)).map((line) => line.toUpperCase());
  t.equal(labels, ["INTERFACE", "SCAVENGER", "SYNTHESIZER", "INTERFACE"], "the groups of the thought process");
  for (const tool of ["read_notion_mock", "read_slack_mock"]) await answer.getByRole("button", { name: new RegExp(tool) }).first().waitFor();
  t.equal(await answer.getByLabel("Done").count(), 2, "cards of calls that are done");
  const order = await page.evaluate(() => {
    const region = document.querySelector('section[aria-label="Thought process"]');
    const bold = document.querySelector('article[aria-label="Answer"] strong');
    return Boolean(region && bold && region.compareDocumentPosition(bold) & Node.DOCUMENT_POSITION_FOLLOWING);
  });
  t.ok(order, "the thought process stands above the answer");
  await t.shot(page, "answer");

  // The follow-up is answered from what was said: one agent, no call.
  await ui.ask(second);
  await page.getByText("react-oauth/google").first().waitFor();
  const followUp = await ui.done();
  t.ok((await followUp.innerText()).includes("authlib"), "the follow-up names authlib");
  const own = followUp.getByRole("region", { name: "Thought process" });
  await own.getByRole("button").first().click();
  t.equal((await own.locator("p").allInnerTexts()).map((s) => s.trim()).filter((s) => /^[▶→⇒]/.test(s)), ["▶ interface agent activated"], "the steps of the follow-up");
  t.equal(await followUp.getByLabel("Done").count(), 0, "calls of the follow-up");

  // The session is in the sidebar, with the first 40 characters of its question.
  const list = page.getByRole("navigation", { name: "Chats" }).getByRole("list", { name: "Chats" });
  t.equal(await list.getByRole("listitem").count(), 1, "chats in the sidebar");
  await list.getByText(first.slice(0, 30), { exact: false }).first().waitFor();
  await t.shot(page, "follow-up");

  // And it is all there again.
  await page.reload();
  await page.getByText("react-oauth/google").first().waitFor();
  t.equal(await ui.answers.count(), 2, "answers after a reload");
}
