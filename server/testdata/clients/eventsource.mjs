import { EventSource } from "eventsource";
import { assert, cancelled, inPath, run } from "./run.mjs";

async function begun(message, more = {}) {
  const answer = await fetch(`${inPath}/api/turns`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ message, ...more }),
  });
  assert.equal(answer.status, 202);
  return answer.json();
}

// told follows a turn to its end; seen may do something at each event.
function told({ events: path }, seen = () => {}) {
  return new Promise((resolve) => {
    const source = new EventSource(inPath + path);
    const events = [];
    source.onmessage = (m) => {
      const event = JSON.parse(m.data);
      events.push(event);
      assert.equal(m.lastEventId, String(event.seq));
      assert.equal(event.seq, events.length);
      seen(event);
    };
    source.onerror = (err) => {
      if (source.readyState === EventSource.CLOSED) resolve({ events, end: events.at(-1), code: err.code });
    };
  });
}

const kinds = (events) => events.map((e) => e.type);

await run({
  async "text and reasoning, to the end and no further"() {
    const { events, end, code } = await told(await begun("think"));
    assert.equal(code, 204);
    assert.ok(kinds(events).includes("reasoning"));
    assert.equal(end.payload.message, "Hello there.");
  },
  async "an agent's tools"() {
    const { events, end } = await told(await begun("note it", { agent: "scribe" }));
    assert.equal(events.find((e) => e.type === "tool_complete").result, "noted");
    assert.equal(end.payload.custom_payload.type, "tool_history");
  },
  async "errors"() {
    assert.equal((await told(await begun("break"))).end.type, "error");
  },
  async "the turn is cancelled"() {
    const turn = await begun("slow");
    const { end } = await told(turn, (e) => {
      if (e.type === "text_delta") void fetch(`${inPath}/api/turns/${turn.turn_id}/cancel`, { method: "POST" });
    });
    assert.equal(end.type, "cancelled");
    await cancelled();
  },
});
