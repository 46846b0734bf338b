// Document 003's own front end against `fettle serve`: the two turns of its demonstration, the
// sessions that it stores in the browser, and its error event for each kind of failure.
import { frontend } from "../frontends.mjs";
import { script } from "../models.mjs";

const first = "I'm starting on the login system. What's the final spec?";
const second = "What library should I use for that?";

export default async function chaoscontext(t) {
  const origin = await frontend(t, "chaoscontext");
  const server = await t.serve({ args: ["--model", "script/:demo", "--trust-origin", origin], toolsets: ["gallery:chaoscontext"] });
  const page = await (await t.context()).newPage();
  await page.goto(`${origin}/#server=${server.url}`);
  const input = page.getByRole("textbox", { name: "Message" });
  const answers = page.getByRole("article");
  const ask = async (text) => {
    await input.fill(text);
    await input.press("Enter");
  };

  // The agents are seen as they begin, and the answer as it is written.
  await ask(first);
  await answers.getByText("▶ interface agent activated").first().waitFor();
  t.ok(await input.isDisabled(), "the input waits while an answer streams");
  await page.locator(".content", { hasText: /Google.*\|$/s }).waitFor(); // the cursor behind a part of the answer
  await page.locator('article[aria-busy="false"]').waitFor();
  await t.shot(page, "answer");
  t.equal((await answers.locator(".thoughts > *").allInnerTexts()).map((line) => line.replace(/^(← result: \[\w+).*/s, "$1")), [
    "INTERFACE", "▶ interface agent activated", "⇒ handing off to scavenger",
    "SCAVENGER", "▶ scavenger agent activated",
    '→ calling read_notion_mock("login system")', "← result: [Notion", '→ calling read_slack_mock("login system auth")', "← result: [Slack",
    "⇒ handing off to synthesizer",
    "SYNTHESIZER", "▶ synthesizer agent activated", "⇒ handing off to interface",
    "INTERFACE", "▶ interface agent activated",
  ], "the thought process");
  const text = await answers.locator(".content").innerText();
  t.ok(text.startsWith("**Google OAuth only.**") && !text.includes("Source of Truth"), `the answer is the Interface agent's alone: ${text}`);

  // The follow-up is answered from the session's history, without a handoff.
  await ask(second);
  await answers.nth(1).getByText("react-oauth/google").waitFor();
  await t.until("the second answer's end", () => answers.nth(1).getAttribute("aria-busy"), (busy) => busy === "false");
  t.equal(await answers.nth(1).locator(".thoughts > *").allInnerTexts(), ["INTERFACE", "▶ interface agent activated"], "the thought process of the follow-up");
  t.equal((await server.api("/api/chats")).chats.length, 1, "chats of one session");

  // A reload has the session, and the server still knows what was said in it.
  await page.reload();
  const sessions = page.getByRole("navigation", { name: "Sessions" }).getByRole("listitem");
  t.equal(await sessions.count(), 1, "sessions after a reload");
  await sessions.getByRole("button", { name: first.slice(0, 40) }).click();
  t.equal(await answers.count(), 2, "answers after a reload");
  await ask(second);
  await answers.nth(2).getByText("authlib").waitFor();
  await t.until("the third answer's end", () => answers.nth(2).getAttribute("aria-busy"), (busy) => busy === "false");
  const stored = await page.evaluate(() => localStorage.getItem("chaoscontext_sessions"));
  t.ok(!stored.includes("[[tool:"), "markers of tools in the stored messages");
  for (const [what, options] of Object.entries(failing)) await failure(t, origin, what, options);
}

// Servers on which a question fails: before there is a turn, and in the middle of an answer.
const failing = {
  "a server without a model": { text: "", message: /model/ },
  "a model that breaks off": {
    args: ["--model", "script/broken.yaml"],
    models: { "broken.yaml": script([{ when: "", text: "Half an", error: { kind: "rejected", status: 400, message: "no more of this" } }]) },
    text: "Half an", message: /no more of this/,
  },
};

/** failure expects the error on the page, and an input that is free again. */
async function failure(t, origin, what, { text, message, args = [], ...options }) {
  t.allow(/status of 503/);
  const server = await t.serve({ args: [...args, "--trust-origin", origin], ...options });
  const page = await (await t.context()).newPage();
  await page.goto(`${origin}/#server=${server.url}`);
  const input = page.getByRole("textbox", { name: "Message" });
  await input.fill("hello");
  await input.press("Enter");
  const shown = await t.until(`the error of ${what}`, () => page.getByRole("alert").innerText(), (now) => now !== "");
  t.ok(message.test(shown), `${what} is named: ${shown}`);
  t.ok(await input.isEnabled(), `${what} leaves the input free`);
  t.equal(await page.locator(".content").innerText(), text, `the answer of ${what}`);
}
