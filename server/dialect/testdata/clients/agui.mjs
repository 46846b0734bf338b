import { HttpAgent, buildResumeArray } from "@ag-ui/client";
import { assert, base, gone, run } from "./run.mjs";

const hi = () => [{ id: "u1", role: "user", content: "hi" }];

async function told(turn, parameters = {}) {
  const agent = new HttpAgent({ url: `${base}/${turn}/agui`, threadId: "thread-1", initialMessages: hi() });
  const events = [];
  let failed;
  const result = await agent.runAgent({ runId: "run-1", ...parameters }, {
    onEvent: ({ event }) => void events.push(event),
    onRunFailed: ({ error }) => void (failed = error),
  }).catch((err) => { failed = err; });
  return { agent, events, result, failed, messages: agent.messages.slice(1) };
}

const end = (events) => events.at(-1);
const said = (messages) => messages.filter((m) => m.role === "assistant" && m.content).map((m) => m.content).join("|");

await run({
  async "text"() {
    const { events, failed, messages } = await told("text");
    assert.equal(failed, undefined);
    assert.equal(said(messages), "Hello there, world.");
    assert.equal(events[0].type, "RUN_STARTED");
    assert.equal(events[0].threadId, "thread-1");
    assert.equal(end(events).outcome.type, "success");
    assert.equal(end(events).usage[0].outputTokens, 5);
  },
  async "reasoning"() {
    const { failed, messages } = await told("reasoning");
    assert.equal(failed, undefined);
    assert.equal(messages.find((m) => m.role === "reasoning").content, "The user greets me.");
  },
  async "fettle's tools"() {
    const { failed, messages } = await told("tool");
    assert.equal(failed, undefined);
    const calls = messages.flatMap((m) => m.toolCalls ?? []);
    assert.deepEqual(calls.map((c) => [c.id, c.function.name, c.function.arguments]), [
      ["call_1", "get_weather", '{"city":"Oslo"}'], ["call_2", "get_weather", '{"city":"Xyz"}'],
    ]);
    assert.deepEqual(messages.filter((m) => m.role === "tool").map((m) => m.content), ["3 degrees, rain", "error: no such city"]);
    const activity = messages.find((m) => m.role === "activity");
    assert.equal(activity.content.message, "reading");
    assert.equal(activity.content.progress, 1);
    assert.equal(said(messages), "Let me look.|It is 3 degrees in Oslo.");
  },
  async "the client's tools"() {
    const tools = ["get_weather", "get_time"].map((name) => ({ name, description: "", parameters: { type: "object", properties: {} } }));
    const { failed, events, messages } = await told("client_tool", { tools });
    assert.equal(failed, undefined);
    assert.deepEqual(end(events).outcome.pendingToolCallIds, ["call_1", "call_2"]);
    assert.equal(messages.filter((m) => m.role === "tool").length, 0);
  },
  async "agents and everything else"() {
    const { failed, events } = await told("recorded");
    assert.equal(failed, undefined);
    assert.deepEqual(events.filter((e) => e.type === "SUBAGENT_STARTED").map((e) => e.name), ["scavenger", "synthesizer"]);
    assert.equal(events.filter((e) => e.type === "CUSTOM" && e.name === "fettle.handoff").length, 3);
    assert.equal(events.filter((e) => e.type === "STEP_FINISHED").length, 1);
  },
  async "errors"() {
    const mid = await told("error");
    assert.equal(end(mid.events).type, "RUN_ERROR");
    assert.equal(end(mid.events).message, "ollama/qwen3: the connection was lost");
    assert.equal(end(mid.events).code, "unavailable");
    const before = await told("refused");
    assert.equal(before.failed.status, 429);
    assert.equal(before.failed.payload.error.message, "ollama/qwen3 is overloaded");
  },
  async "somebody else cancels"() {
    const { failed, events } = await told("cancelled");
    assert.equal(failed, undefined);
    assert.equal(end(events).outcome.type, "cancelled");
  },
  async "the client cancels"() {
    const agent = new HttpAgent({ url: `${base}/hang/agui/agui`, threadId: "thread-1", initialMessages: hi() });
    await agent.runAgent({ runId: "run-1" }, { onTextMessageContentEvent: () => void setTimeout(() => agent.abortRun(), 0) }).catch(() => {});
    await gone("agui");
  },
  async "an approval by another run"() {
    for (const [turn, payload, words] of [["approval", { approved: true }, "It is 3 degrees."], ["denied", { approved: false, reason: "not now" }, "As you wish."]]) {
      const { agent, events, failed } = await told(turn, { forwardedProps: { confirm: true } });
      assert.equal(failed, undefined);
      const { outcome } = end(events);
      assert.equal(outcome.type, "interrupt");
      assert.equal(outcome.interrupts[0].toolCallId, "call_1");
      assert.equal(outcome.interrupts[0].metadata.tool_id, "weather:get_weather");
      const resume = buildResumeArray(outcome.interrupts, { [outcome.interrupts[0].id]: { status: "resolved", payload } });
      const more = [];
      await agent.runAgent({ runId: "run-2", resume, forwardedProps: { confirm: true } }, { onEvent: ({ event }) => void more.push(event) });
      assert.equal(more[0].runId, "run-2");
      assert.equal(end(more).outcome.type, "success");
      assert.equal(agent.messages.at(-1).content, words);
      assert.equal(agent.messages.filter((m) => m.role === "tool").length, 1);
    }
  },
});
