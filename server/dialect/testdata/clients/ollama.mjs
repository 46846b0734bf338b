import { Ollama } from "ollama";
import { assert, base, gone, run, weather } from "./run.mjs";

const messages = [{ role: "user", content: "hi" }];
const at = (turn) => new Ollama({ host: `${base}/${turn}` });

async function told(turn, more = {}) {
  const parts = [];
  for await (const p of await at(turn).chat({ model: "weather", messages, stream: true, ...more })) parts.push(p);
  return { parts, last: parts.at(-1), text: parts.map((p) => p.message.content).join(""), thinking: parts.map((p) => p.message.thinking ?? "").join("") };
}

await run({
  async "text"() {
    const { text, last } = await told("text");
    assert.equal(text, "Hello there, world.");
    assert.equal(last.done_reason, "stop");
    assert.equal(last.eval_count, 5);
    assert.ok(last.eval_duration > 0);
    assert.equal(last.model, "weather");
  },
  async "the object"() {
    const whole = await at("tool").chat({ model: "weather", messages });
    assert.equal(whole.message.content, "Let me look.\n\nIt is 3 degrees in Oslo.");
    assert.equal(whole.message.thinking, "I need the weather.");
    assert.equal(whole.done, true);
  },
  async "reasoning"() {
    assert.equal((await told("reasoning")).thinking, "The user greets me.");
  },
  async "fettle's tools run in fettle"() {
    const { parts, text } = await told("tool");
    assert.equal(text, "Let me look.\n\nIt is 3 degrees in Oslo.");
    assert.equal(parts.flatMap((p) => p.message.tool_calls ?? []).length, 0);
  },
  async "the client's tools are called"() {
    const get_time = { type: "function", function: { name: "get_time", parameters: { type: "object", properties: {} } } };
    const { parts } = await told("client_tool", { tools: [weather, get_time] });
    assert.deepEqual(parts.flatMap((p) => p.message.tool_calls ?? []).map((c) => [c.function.name, c.function.arguments]), [["get_weather", { city: "Oslo" }], ["get_time", {}]]);
  },
  async "agents and everything else"() {
    assert.match((await told("recorded")).text, /^I let the Scavenger look\.\n\nUse Google OAuth/);
  },
  async "a cut answer"() {
    assert.equal((await told("length")).last.done_reason, "length");
  },
  async "errors"() {
    await assert.rejects(told("error"), /the connection was lost/);
    await assert.rejects(told("refused"), (err) => err.status_code === 429 && err.error === "ollama/qwen3 is overloaded");
  },
  async "somebody else cancels"() {
    await assert.rejects(told("cancelled"), /Did not receive done/);
  },
  async "models"() {
    const { models } = await at("text").list();
    assert.deepEqual(models.map((m) => m.name), ["ollama/qwen3", "fettle/triage"]);
    const shown = await at("text").show({ model: models[0].model });
    assert.equal(shown.model_info["qwen3.context_length"], 40960);
    assert.ok(shown.capabilities.includes("tools"));
    assert.match((await at("text").version()).version, /^\d+\.\d+\.\d+$/);
  },
  async "the client cancels"() {
    const stream = await at("hang/ollama").chat({ model: "weather", messages, stream: true });
    await assert.rejects(async () => {
      for await (const p of stream) if (p.message.content) stream.abort();
    }, { name: "AbortError" });
    await gone("ollama");
  },
});
