import { HttpAgent } from "@ag-ui/client";
import { assert, base, cancelled, city, run, token } from "./run.mjs";

let ids = 0;
const agentOf = (messages = []) => new HttpAgent({
  url: `${base}/agui`, threadId: `thread-${++ids}`, headers: { Authorization: `Bearer ${token}` }, initialMessages: messages,
});
const said = (agent) => agent.messages.filter((m) => m.role === "assistant" && m.content).map((m) => m.content).join("|");

async function told(agent, content, parameters = {}) {
  if (content) agent.addMessage({ id: `m${++ids}`, role: "user", content });
  const events = [];
  let failed;
  await agent.runAgent({ runId: `run-${++ids}`, ...parameters }, {
    onEvent: ({ event }) => void events.push(event),
    onRunFailed: ({ error }) => void (failed = error),
  }).catch((err) => { failed = err; });
  return { events, failed, end: events.at(-1) };
}

const tools = [{ name: "get_weather", description: "The weather of a city.", parameters: city }];

await run({
  async "text and reasoning"() {
    const agent = agentOf();
    const { failed, end } = await told(agent, "think");
    assert.equal(failed, undefined);
    assert.equal(said(agent), "Hello there.");
    assert.equal(agent.messages.find((m) => m.role === "reasoning").content, "The user greets me.");
    assert.equal(end.outcome.type, "success");
  },
  async "the client's tools, there and back"() {
    const agent = agentOf();
    const { failed, end } = await told(agent, "weather", { tools });
    assert.equal(failed, undefined);
    const call = agent.messages.flatMap((m) => m.toolCalls ?? [])[0];
    assert.deepEqual([call.function.name, call.function.arguments], ["get_weather", '{"city":"Oslo"}']);
    assert.deepEqual(end.outcome.pendingToolCallIds, [call.id]);
    agent.addMessage({ id: `m${++ids}`, role: "tool", toolCallId: call.id, content: "3 degrees" });
    assert.equal((await told(agent, "", { tools })).failed, undefined);
    assert.match(said(agent), /\|It is 3 degrees in Oslo\.$/);
    await told(agent, "and what did you say", { tools });
    assert.match(said(agent), /\|That it is 3 degrees\.$/);
  },
  async "a conversation that the server doesn't know"() {
    const agent = agentOf([
      { id: "1", role: "user", content: "hi" }, { id: "2", role: "assistant", content: "It is 3 degrees in Oslo." },
    ]);
    await told(agent, "and what did you say");
    assert.match(said(agent), /\|That it is 3 degrees\.$/);
  },
  async "an agent runs fettle's tools in fettle"() {
    const agent = agentOf();
    const { failed } = await told(agent, "note it", { forwardedProps: { model: "fettle/scribe" } });
    assert.equal(failed, undefined);
    assert.equal(agent.messages.find((m) => m.role === "tool").content, "noted");
    assert.equal(said(agent), "I note it.|Noted.");
  },
  async "errors"() {
    assert.equal((await told(agentOf(), "break")).end.type, "RUN_ERROR");
    const refused = await told(agentOf(), "hi", { forwardedProps: { model: "script/none.yaml" } });
    assert.equal(refused.failed.status, 404);
  },
  async "the turn is cancelled"() {
    const agent = agentOf();
    const run = told(agent, "slow");
    while (!said(agent)) await new Promise((r) => setTimeout(r, 5));
    await fetch(`${base}/cancel`); // the last turn, by somebody else
    const { failed, end } = await run;
    assert.equal(failed, undefined);
    assert.equal(end.outcome.type, "cancelled");
    await cancelled();
  },
});
