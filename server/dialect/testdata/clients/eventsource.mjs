import { EventSource } from "eventsource";
import { assert, base, gone, run } from "./run.mjs";

// told follows a turn to its end, over every connection that it takes.
function told(path, until = () => false) {
  return new Promise((resolve) => {
    const source = new EventSource(`${base}/${path}`);
    const events = [];
    let opened = 0;
    source.onopen = () => opened++;
    source.onmessage = (m) => {
      const event = JSON.parse(m.data);
      events.push(event);
      assert.equal(m.lastEventId, String(event.seq));
      if (until(event)) {
        source.close();
        resolve({ events, opened });
      }
    };
    source.onerror = (err) => {
      if (source.readyState === EventSource.CLOSED) resolve({ events, opened, code: err.code });
    };
  });
}

const kinds = (events) => events.map((e) => e.type);

await run({
  async "text, to the end and no further"() {
    const { events, code } = await told("text/events");
    assert.deepEqual(kinds(events), ["status", "text_delta", "text_delta", "text_delta", "meta", "complete"]);
    assert.equal(code, 204);
    assert.equal(events.at(-1).payload.message, "Hello there, world.");
  },
  async "reasoning, tools, errors and cancels"() {
    assert.ok(kinds((await told("reasoning/events")).events).includes("reasoning"));
    const { events } = await told("tool/events");
    assert.equal(events.filter((e) => e.type === "tool_progress").length, 2);
    assert.equal(events.at(-1).payload.custom_payload.type, "tool_history");
    assert.equal((await told("error/events")).events.at(-1).message, "ollama/qwen3: the connection was lost");
    assert.equal((await told("cancelled/events")).events.at(-1).type, "cancelled");
  },
  async "cut again and again, every event once and in order"() {
    const { events, opened } = await told("cut/recorded/events");
    assert.deepEqual(events.map((e) => e.seq), events.map((_, i) => i + 1));
    assert.equal(events.at(-1).type, "complete");
    assert.ok(opened > 5);
  },
  async "the client leaves"() {
    await told("hang/eventsource/events", (e) => e.type === "text_delta");
    await gone("eventsource");
  },
});
