// A call that hides what it does is shown with nothing hidden: blanks as counts, controls
// by their numbers, every argument by its name, and what is cut with its size. It can be
// allowed only once all of it was shown.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chat } from "../kit.mjs";
import { call, script } from "../models.mjs";

const blanks = "\u00a0".repeat(60) + "\u2800".repeat(30) + "\u3164".repeat(30);
const hidden = `echo fine${blanks}; echo \u202egnihtemos > hidden.txt`;
const long = `echo ${"fine ".repeat(600)}; echo the end > long.txt`;
const many = `${"echo fine\n".repeat(60)}echo the end > many.txt`;
const args = { path: "a.txt", body: `${"fine ".repeat(600)}the end of the body`, "na\u202eme": `fine${"\u3164".repeat(90)}the end of the name`, last: ["fine", "the last one"] };

function toolset(dir) {
  mkdirSync(join(dir, "tools"), { recursive: true });
  writeFileSync(join(dir, "tools/send.py"), "def run(workspace=None, **args):\n    return {\"sent\": len(args)}\n");
  const tool = { id: "send", name: "Send", description: "Sends.", entrypoint: "tools.send:run", requires_confirmation: true, input_schema: { type: "object", additionalProperties: true } };
  writeFileSync(join(dir, "toolset.yaml"), JSON.stringify({ manifest_version: "1", id: "sender", name: "Sender", version: "1.0.0", description: "Sends things", tools: [tool] }));
}

export default async function consent(t) {
  const dir = mkdtempSync(join(tmpdir(), "fettle-page-sender-"));
  t.closers.push(() => rmSync(dir, { recursive: true, force: true }));
  toolset(dir);
  const calls = { hidden: call("run_command", { command: hidden }), long: call("run_command", { command: long }), many: call("run_command", { command: many }), send: call("send", args) };
  const responses = Object.entries(calls).flatMap(([when, each]) => [{ when: `^${when}$`, step: 0, calls: [each] }, { when: `^${when}$`, text: `${when} is over` }]);
  const server = await t.serve({ args: ["--model", "script/model.yaml"], models: { "model.yaml": script(responses) }, toolsets: [dir] });
  const page = await t.open(server);
  const ui = chat(page);

  const asked = async (question, tool) => {
    await ui.ask(question);
    const card = page.getByRole("region", { name: new RegExp(`${tool} needs your approval`) });
    await card.waitFor();
    const deny = card.getByRole("button", { name: "Deny" });
    await t.until(`${question}: the card can be answered`, () => deny.isEnabled());
    const over = async () => {
      await deny.click();
      await page.getByText(`${question} is over`).waitFor();
      await ui.done();
    };
    const shown = async () => (await card.locator("pre").allInnerTexts()).join("\n"); // the arguments, without the rule
    return { card, shown, allow: card.getByRole("button", { name: "Allow once" }), whole: card.getByRole("button", { name: "Show all of it" }), over };
  };
  const nothingHidden = async (card, what) => {
    const text = await card.innerText();
    t.ok(!/[\u00a0\u2800\u3164\u202a-\u202e\u2066-\u2069]/.test(text), `${what} has no blank or control that is not shown`);
    return text;
  };

  // Nothing is cut, so that it can be allowed; all of it can be read.
  const first = await asked("hidden", "run_command");
  t.ok((await nothingHidden(first.card, "the card")).includes("echo fine[120 blanks]; echo ‹U+202E›gnihtemos > hidden.txt"), "the card counts blanks and names controls");
  t.equal(await first.whole.count(), 0, "buttons to show all where all is shown");
  await t.until("what is shown whole can be allowed", () => first.allow.isEnabled());
  await first.over();

  // An argument that is cut says so, with its size, and has to be shown before a yes.
  for (const question of ["long", "many"]) {
    const next = await asked(question, "run_command");
    const begin = await next.shown();
    t.ok(!begin.includes("echo the end"), `${question}: the card shows the beginning alone`);
    t.ok(/the beginning of [\d.]+ (bytes|KB)/.test(begin), `${question}: the card has the size: ${begin}`);
    t.ok(!(await next.allow.isEnabled()), `${question}: it cannot be allowed before all of it was shown`);
    t.equal(await next.card.getByRole("button", { name: /^(More|Allow)/ }).evaluateAll((all) => all.filter((b) => !b.disabled).length), 0, `${question}: buttons that allow anything`);
    await next.whole.click();
    await t.until(`${question}: all of it is shown`, async () => (await next.shown()).includes("echo the end"));
    await t.until(`${question}: it can be allowed now`, () => next.allow.isEnabled());
    await next.over();
  }

  // Arguments besides the one that a tool is known for: each by its name, cut ones with
  // their sizes.
  const last = await asked("send", "send");
  const text = await nothingHidden(last.card, "the card of several arguments");
  for (const part of ["a.txt", "body:", "the beginning of 3", "na‹U+202E›me: fine[90 blanks]the end of the name", "last:", "the last one"]) t.ok(text.includes(part), `the card has ${part}: ${text}`);
  t.ok(!(await last.shown()).includes("the end of the body") && !(await last.allow.isEnabled()), "the cut argument has to be shown first");
  await t.shot(page, "cut");
  await last.whole.click();
  await t.until("the whole body is shown", async () => (await last.shown()).includes("the end of the body"));
  await t.until("the call can be allowed", () => last.allow.isEnabled());
  await t.axe(page, "an approval that shows all");
  await last.over();
}
