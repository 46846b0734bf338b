// Document 000's own front end against `fettle serve`, from another origin: text as it streams,
// status, progress of tools, payloads in the workspace, the cancel button, a reload, and
// failures before and during a turn.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { frontend } from "../frontends.mjs";
import { call, script, words } from "../models.mjs";

const long = words(400).join(" ");
const model = script([
  { when: "^analyze", step: 0, text: "Let me look. ", calls: [call("analyze_reviews", { business_name: "Blue Door Bakery", location: "Portland, OR", source: "yelp" })] },
  { when: "^analyze", step: 1, text: "The bakery is good." },
  { when: "^count", step: 0, calls: [call("count_steps", { steps: 3 })] },
  { when: "^count", step: 1, text: "The steps were counted." },
  { when: "^collect", step: 0, calls: [call("collect_reviews", { business_name: "Blue Door Bakery", location: "Portland, OR" })] },
  { when: "^collect", step: 1, text: "The reviews were collected." },
  { when: "^many", text: long, pace: "20ms" },
  { when: "^suggest", text: 'SUGGESTED_VALUES: [{"label": "Each week", "value": "weekly"}]\n\nHow often?' },
  { when: "took the action value_selected", text: "The value was picked." },
  { when: "^break", text: "Half an", error: { kind: "rejected", status: 400, message: "no more of this" } },
  { when: "", text: "Hello." },
]);

// "Streaming Tools" and "Adding New Payload Types" of the document. The tool ends once the scenario has
// seen its progress and written the file.
const tool = `from fettle import ToolProgress, ToolResult
import pathlib, time

def execute_count_steps(params, db, user_id, context):
    for n in range(params["steps"]):
        yield ToolProgress(stage=f"step{n}", message=f"Step {n} is made", data={"step": n}, progress=(n + 1) / params["steps"])
    while not any(p.name == "seen" for p in pathlib.Path(context["workspace"]).iterdir()):  # an overlay lists a new file at once
        time.sleep(0.02)
    return ToolResult(
        text="Counted.",
        workspace_payload={"type": "my_new_type", "title": "My Title", "content": "Summary text", "data": {"steps": params["steps"]}},
    )
`;

function bundle(t) {
  const dir = mkdtempSync(join(tmpdir(), "fettle-general-"));
  t.closers.push(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, "tools"));
  writeFileSync(join(dir, "tools/steps.py"), tool);
  writeFileSync(join(dir, "toolset.yaml"), JSON.stringify({
    manifest_version: "1", id: "steps", name: "Steps", version: "1.0.0", description: "Counts steps.",
    tools: [{
      id: "count_steps", name: "Count steps", description: "Counts steps.", entrypoint: "tools.steps:execute_count_steps", streaming: true,
      input_schema: { type: "object", properties: { steps: { type: "integer" } }, required: ["steps"] },
    }],
  }));
  return dir;
}

export default async function general(t) {
  const origin = await frontend(t, "general");
  const server = await t.serve({
    args: ["--model", "script/model.yaml", "--allow-origin", origin], models: { "model.yaml": model }, toolsets: ["gallery:reviews", bundle(t)],
  });
  const page = await (await t.context()).newPage();
  await page.goto(`${origin}/#server=${server.url}&token=${server.token}`);
  const ui = {
    answers: page.getByRole("article", { name: "assistant" }),
    workspace: page.getByRole("region", { name: "Workspace" }),
    conversations: page.getByRole("navigation", { name: "Conversations" }).getByRole("listitem"),
    async ask(text) {
      await page.getByRole("textbox", { name: "Message" }).fill(text);
      await page.getByRole("button", { name: "Send" }).click();
    },
    done: () => page.getByRole("button", { name: "Send" }).waitFor(),
  };
  await page.getByRole("complementary", { name: "Context" }).getByText("Analyze reviews").waitFor();

  await tools(t, page, server, ui);
  await suggestions(page, ui);
  await cancel(t, page, server, ui);
  await failures(t, page, server, ui);
  await again(t, page, ui);
}

/** tools expects a tool's progress while it runs, its payload in the workspace, and its card in the text. */
async function tools(t, page, server, { ask, done, answers, workspace }) {
  await page.evaluate(() => {
    window.statuses = [];
    const note = (changes) => window.statuses.push(...changes.flatMap((change) => [...change.addedNodes].map((node) => node.textContent)));
    new MutationObserver(note).observe(document.querySelector('[role="status"]'), { childList: true });
  });
  await ask("analyze the reviews");
  await workspace.getByText("reviews of Blue Door Bakery", { exact: false }).waitFor();
  await done();
  await t.shot(page, "payload");
  t.equal([...new Set(await page.evaluate(() => window.statuses))], ["Thinking...", "Running analyze_reviews..."], "the status texts of a turn");
  t.ok(/^Let me look\.\s*analyze_reviews\s*The bakery is good\./.test(await answers.first().innerText()), `the card is at its place in the text: ${await answers.first().innerText()}`);
  await answers.first().getByRole("button", { name: "Tool analyze_reviews" }).click();
  await workspace.getByRole("heading", { name: "analyze_reviews" }).waitFor();
  await workspace.getByText('"business_name": "Blue Door Bakery"', { exact: false }).waitFor();
  await answers.first().getByRole("button", { name: "Tool history" }).click();
  t.equal(await workspace.getByRole("article").count(), 2, "the tool history and its one call");

  await ask("count the steps");
  await page.getByRole("list", { name: "Tool progress" }).getByText("step2: Step 2 is made 100 %").waitFor();
  t.equal(await page.getByRole("list", { name: "Tool progress" }).getByRole("listitem").allInnerTexts(), ["step0: Step 0 is made 33 %", "step1: Step 1 is made 67 %", "step2: Step 2 is made 100 %"], "the progress of the tool");
  t.equal(await page.getByRole("status").innerText(), "Running count_steps...", "the status while a tool runs");
  const [chat] = (await server.api("/api/chats")).chats;
  writeFileSync(join(server.env.FETTLE_DATA, "chats", chat.id, "workspace", "seen"), "");
  await workspace.getByText("3 steps were made").waitFor();
  await done();

  // A type that the front end's registry doesn't have is shown by its StandardPayloadView.
  await ask("collect the reviews");
  await workspace.getByText('"reviews": [', { exact: false }).waitFor();
  await done();
}

/** suggestions expects the buttons of an answer's suggestions, and that the model reads what was chosen. */
async function suggestions(page, { ask, done, answers }) {
  await ask("suggest");
  await answers.last().getByRole("button", { name: "Each week" }).click();
  await page.getByText("The value was picked.").waitFor();
  await done();
}

/** cancel stops an answer as the document's client does, by aborting its request: the server ends the turn. */
async function cancel(t, page, server, { ask, done, conversations }) {
  await page.getByRole("button", { name: "New conversation" }).click();
  await t.until("the new conversation", () => conversations.count(), (n) => n === 2);
  await ask("many words");
  await page.getByLabel("Streaming text").getByText("word5 ", { exact: false }).waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await done();
  await page.getByText("The request was cancelled.").waitFor();
  const last = await t.until("the turn's end", async () => {
    const { messages, turn_id } = await server.api("/api/chats/2/messages").catch(() => ({}));
    return turn_id ? null : messages?.at(-1);
  });
  t.equal([last.role, last.status], ["assistant", "cancelled"], "what became of the answer");
  t.ok(last.content.startsWith("word0 word1") && !last.content.includes("word399"), "the part that had come is stored, and no more");
}

/** failures expects the words of a failure in the middle of an answer, and before there is a turn. */
async function failures(t, page, server, { ask, done }) {
  const alert = page.getByRole("alert");
  await ask("break");
  await alert.getByText("no more of this", { exact: false }).waitFor();
  await done();
  t.allow(/status of 400/);
  await ask("");
  await alert.getByText("message is empty").waitFor();
  await done();
}

/** again expects, after a reload, the list of conversations, their messages and their payloads. */
async function again(t, page, { done, answers, workspace, conversations }) {
  await page.reload();
  await t.until("the conversations", () => conversations.count(), (n) => n === 2);
  t.equal(await answers.count(), 0, "messages before a conversation is chosen");
  await conversations.getByRole("button", { name: "analyze the reviews", exact: true }).click();
  await page.getByText("The bakery is good.").waitFor();
  t.equal(await answers.count(), 5, "answers of the conversation");
  t.equal(await answers.getByRole("button", { name: /^Tool \w+_/ }).count(), 3, "cards of its calls");
  await answers.getByRole("button", { name: "Each week" }).waitFor();
  await workspace.getByText('"reviews": [', { exact: false }).waitFor();
  await done();
  await t.shot(page, "reloaded");
  await conversations.getByRole("button", { name: "Delete analyze the reviews" }).click();
  await t.until("the conversation's removal", () => conversations.count(), (n) => n === 1);
  t.equal(await answers.count(), 0, "messages of a conversation that was deleted");
}
