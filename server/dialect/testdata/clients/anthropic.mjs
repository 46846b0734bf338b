import Anthropic from "@anthropic-ai/sdk";
import { assert, base, gone, run, weather } from "./run.mjs";

const at = (turn) => new Anthropic({ baseURL: `${base}/${turn}`, apiKey: "key", maxRetries: 0 });
const ask = { model: "fettle/weather", max_tokens: 1024, messages: [{ role: "user", content: "hi" }] };
const tool = (f) => ({ name: f.name, description: f.description, input_schema: f.parameters });
const tools = [tool(weather.function), { name: "get_time", input_schema: { type: "object", properties: {} } }];

const streamed = (turn, more = {}) => at(turn).messages.stream({ ...ask, ...more }).finalMessage();
const whole = (turn, more = {}) => at(turn).messages.create({ ...ask, ...more });
const text = (message) => message.content.filter((b) => b.type === "text").map((b) => b.text).join("");

// both runs a scenario on the streamed message and on the object: they have to be the same.
async function both(turn, more, check) {
  const [one, other] = [await streamed(turn, more), await whole(turn, more)];
  assert.deepEqual(one.content, other.content.map((b) => ({ ...b })));
  assert.equal(one.stop_reason, other.stop_reason);
  check(one);
}

await run({
  async "text, with usage"() {
    await both("text", {}, (message) => {
      assert.equal(text(message), "Hello there, world.");
      assert.equal(message.stop_reason, "end_turn");
      assert.equal(message.model, "fettle/weather");
      assert.equal(message.usage.input_tokens + message.usage.cache_read_input_tokens, 12);
      assert.equal(message.usage.output_tokens, 5);
    });
  },
  async "reasoning"() {
    await both("reasoning", { thinking: { type: "enabled", budget_tokens: 1024 } }, (message) => {
      assert.equal(message.content[0].thinking, "The user greets me.");
      assert.equal(text(message), "Hello there.");
    });
  },
  async "fettle's tools run in fettle"() {
    await both("tool", {}, (message) => {
      assert.equal(text(message), "Let me look.\n\nIt is 3 degrees in Oslo.");
      assert.ok(!message.content.some((b) => b.type === "tool_use"));
    });
  },
  async "the client's tools are called"() {
    await both("client_tool", { tools }, (message) => {
      assert.equal(message.stop_reason, "tool_use");
      assert.deepEqual(
        message.content.filter((b) => b.type === "tool_use").map((b) => [b.id, b.name, b.input]),
        [["call_1", "get_weather", { city: "Oslo" }], ["call_2", "get_time", {}]],
      );
    });
  },
  async "agents and everything else"() {
    await both("recorded", {}, (message) => {
      assert.match(text(message), /^I let the Scavenger look\.\n\nUse Google OAuth: /);
      assert.equal(message.content.flatMap((b) => b.citations ?? [])[0].title, "#engineering");
    });
  },
  async "a cut answer"() {
    await both("length", {}, (message) => assert.equal(message.stop_reason, "max_tokens"));
  },
  async "an error in the stream"() {
    await assert.rejects(streamed("error"), /the connection was lost/);
  },
  async "an error before the stream"() {
    await assert.rejects(streamed("refused"), (err) => err instanceof Anthropic.RateLimitError && err.error.error.type === "rate_limit_error");
    await assert.rejects(whole("text", { messages: [] }), (err) => err instanceof Anthropic.BadRequestError && /messages/.test(err.message));
    await assert.rejects(whole("text", { tools: [{ type: "web_search_20250305", name: "web_search" }] }), (err) => err.status === 400 && /web_search/.test(err.message));
  },
  async "somebody else cancels"() {
    await assert.rejects(streamed("cancelled"));
  },
  async "models"() {
    const models = [];
    for await (const m of at("text").models.list()) models.push([m.type, m.id, m.display_name]);
    assert.deepEqual(models, [["model", "ollama/qwen3", "ollama/qwen3"], ["model", "fettle/triage", "fettle/triage"]]);
  },
  async "the client cancels"() {
    const stream = await at("hang/anthropic").messages.create({ ...ask, stream: true });
    for await (const e of stream) if (e.type === "content_block_delta") break;
    await gone("anthropic");
  },
});
