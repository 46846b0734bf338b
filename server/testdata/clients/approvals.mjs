// The AI SDK's and AG-UI's own clients through ask, answer and result, against a
// server whose turns want an approval for the question "twice".
import assert from "node:assert/strict";
import { DefaultChatTransport, AbstractChat, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { HttpAgent, buildResumeArray } from "@ag-ui/client";

const [base, token] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${token}` };
const texts = (parts) => parts.filter((p) => p.type === "text").map((p) => p.text).join("|");
const call = (chat) => chat.lastMessage.parts.find((p) => p.type === "dynamic-tool");

class Chat extends AbstractChat {
  constructor({ messages = [], ...init }) {
    super({
      ...init,
      state: {
        status: "ready", error: undefined, messages,
        pushMessage(m) { this.messages = this.messages.concat(m); },
        popMessage() { this.messages = this.messages.slice(0, -1); },
        replaceMessage(i, m) { this.messages = [...this.messages.slice(0, i), m, ...this.messages.slice(i + 1)]; },
        snapshot: (v) => structuredClone(v),
      },
    });
  }
}

function open(id, more = {}) {
  let told;
  const failed = new Promise((r) => (told = r));
  const chat = new Chat({
    id, onError: told, transport: new DefaultChatTransport({ api: `${base}/aisdk`, headers, body: { confirm: true } }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses, ...more,
  });
  return { chat, failed };
}

async function until(is) {
  while (!is()) await new Promise((r) => setTimeout(r, 5));
}

async function aisdk(approved, state) {
  const { chat } = open(`thread-${approved}`);
  await chat.sendMessage({ text: "twice" });
  assert.equal(call(chat).state, "approval-requested");
  assert.deepEqual(call(chat).input, { path: "a" });
  await chat.addToolApprovalResponse({ id: call(chat).approval.id, approved, reason: "for this reason" });
  await until(() => chat.status === "ready" && texts(chat.lastMessage.parts) === "Done.");
  assert.equal(chat.messages.length, 2);
  assert.equal(call(chat).state, state);
  await chat.sendMessage({ text: "and more" });
  assert.equal(texts(chat.lastMessage.parts), "Done.");
}

async function late() {
  const { chat } = open("thread-late");
  await chat.sendMessage({ text: "twice" });
  const other = open("thread-late", { messages: structuredClone(chat.messages) });
  const answer = { id: call(chat).approval.id, approved: true };
  await chat.addToolApprovalResponse(answer);
  await until(() => chat.status === "ready" && texts(chat.lastMessage.parts) === "Done.");
  await other.chat.addToolApprovalResponse({ ...answer, approved: false });
  assert.match((await other.failed).message, /was allowed already, by request/);
}

async function agui(payload, content) {
  const agent = new HttpAgent({
    url: `${base}/agui`, headers, threadId: `agui-${payload.approved}`,
    initialMessages: [{ id: "u1", role: "user", content: "twice" }],
  });
  const run = async (parameters) => {
    const events = [];
    await agent.runAgent({ forwardedProps: { confirm: true }, ...parameters }, { onEvent: ({ event }) => void events.push(event) });
    return events;
  };
  const { outcome } = (await run({ runId: "run-1" })).at(-1);
  assert.equal(outcome.type, "interrupt");
  assert.deepEqual(outcome.interrupts[0].metadata.input, { path: "a" });
  const resume = buildResumeArray(outcome.interrupts, { [outcome.interrupts[0].id]: { status: "resolved", payload } });
  const more = await run({ runId: "run-2", resume });
  assert.equal(more[0].type, "RUN_STARTED");
  assert.equal(more[0].runId, "run-2");
  assert.equal(more.at(-1).outcome.type, "success");
  assert.match(agent.messages.find((m) => m.role === "tool").content, content);
  assert.equal(agent.messages.at(-1).content, "Done.");
}

const scenarios = {
  "AI SDK: allowed": () => aisdk(true, "output-available"),
  "AI SDK: denied": () => aisdk(false, "output-denied"),
  "AI SDK: another page was first": late,
  "AG-UI: allowed": () => agui({ approved: true }, /^removed$/),
  "AG-UI: denied": () => agui({ approved: false, reason: "not now" }, /not now/),
};

let failures = 0;
for (const [name, scenario] of Object.entries(scenarios)) {
  try {
    await scenario();
    console.log(`ok ${name}`);
  } catch (err) {
    failures++;
    console.log(`not ok ${name}: ${err?.stack ?? err}`);
  }
}
process.exit(failures ? 1 : 0);
