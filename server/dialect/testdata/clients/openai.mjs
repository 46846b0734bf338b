import OpenAI from "openai";
import { assert, base, gone, run, weather } from "./run.mjs";

const at = (turn) => new OpenAI({ baseURL: `${base}/${turn}/v1`, apiKey: "key", maxRetries: 0 });
const messages = [{ role: "user", content: "hi" }];
const ask = { model: "fettle/weather", messages, stream_options: { include_usage: true } };
const tools = [weather, { type: "function", function: { name: "get_time", parameters: { type: "object", properties: {} } } }];

async function streamed(turn, more = {}) {
  const stream = at(turn).chat.completions.stream({ ...ask, ...more });
  const reasoning = [];
  stream.on("chunk", (c) => reasoning.push(c.choices[0]?.delta.reasoning_content ?? ""));
  return { final: await stream.finalChatCompletion(), reasoning: reasoning.join("") };
}

async function responded(turn, more = {}) {
  const events = [];
  const stream = at(turn).responses.stream({ model: "fettle/weather", input: "hi", ...more });
  for await (const e of stream) events.push(e);
  events.forEach((e, i) => assert.equal(e.sequence_number, i));
  return { final: await stream.finalResponse(), events };
}

await run({
  async "chat: text, with usage"() {
    const { final } = await streamed("text");
    assert.equal(final.choices[0].message.content, "Hello there, world.");
    assert.equal(final.choices[0].finish_reason, "stop");
    assert.equal(final.model, "fettle/weather");
    assert.equal(final.usage.total_tokens, 17);
  },
  async "chat: the object"() {
    const done = await at("tool").chat.completions.create({ model: "m", messages });
    assert.equal(done.choices[0].message.content, "Let me look.\n\nIt is 3 degrees in Oslo.");
    assert.equal(done.choices[0].message.reasoning_content, "I need the weather.");
    assert.equal(done.usage.prompt_tokens, 42);
  },
  async "chat: reasoning"() {
    const { final, reasoning } = await streamed("reasoning");
    assert.equal(reasoning, "The user greets me.");
    assert.equal(final.choices[0].message.content, "Hello there.");
  },
  async "chat: fettle's tools run in fettle"() {
    const { final } = await streamed("tool");
    assert.equal(final.choices[0].message.content, "Let me look.\n\nIt is 3 degrees in Oslo.");
    assert.equal(final.choices[0].message.tool_calls, undefined);
  },
  async "chat: the client's tools are called"() {
    const { final } = await streamed("client_tool", { tools });
    assert.equal(final.choices[0].finish_reason, "tool_calls");
    assert.deepEqual(
      final.choices[0].message.tool_calls.map((c) => [c.id, c.function.name, c.function.arguments]),
      [["call_1", "get_weather", '{"city":"Oslo"}'], ["call_2", "get_time", "{}"]],
    );
    const whole = await at("client_tool").chat.completions.create({ model: "m", messages, tools });
    assert.equal(whole.choices[0].message.tool_calls.length, 2);
  },
  async "chat: agents and everything else"() {
    const { final } = await streamed("recorded");
    assert.match(final.choices[0].message.content, /^I let the Scavenger look\.\n\nUse Google OAuth: /);
    assert.equal(final.choices[0].message.annotations[0].url_citation.title, "#engineering");
  },
  async "chat: a cut answer"() {
    const { final } = await streamed("length").catch((err) => ({ final: null, err }));
    const plain = await at("length").chat.completions.create({ model: "m", messages });
    assert.equal(plain.choices[0].finish_reason, "length");
    assert.ok(final === null || final.choices[0].finish_reason === "length");
  },
  async "chat: an error in the stream"() {
    await assert.rejects(streamed("error"), /the connection was lost/);
  },
  async "chat: an error before the stream"() {
    await assert.rejects(streamed("refused"), (err) => err.status === 429 && err.code === "rate_limit_exceeded");
    await assert.rejects(at("text").chat.completions.create({ model: "m", messages: [] }), (err) => err.status === 400 && err.param === "messages");
  },
  async "chat: somebody else cancels"() {
    await assert.rejects(streamed("cancelled"));
  },
  async "chat: the client cancels"() {
    const stream = await at("hang/openai").chat.completions.create({ ...ask, stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break; // leaving aborts
    await gone("openai");
  },
  async "responses: text"() {
    const { final, events } = await responded("text");
    assert.equal(final.output_text, "Hello there, world.");
    assert.equal(final.status, "completed");
    assert.equal(final.usage.total_tokens, 17);
    assert.equal(events[0].type, "response.created");
  },
  async "responses: the object"() {
    const done = await at("tool").responses.create({ model: "m", input: "hi", instructions: "Be brief.", metadata: { k: "v" } });
    assert.deepEqual(done.output.map((i) => i.type), ["reasoning", "message", "mcp_call", "mcp_call", "message"]);
    assert.equal(done.output_text, "Let me look.It is 3 degrees in Oslo.");
    assert.equal(done.instructions, "Be brief.");
    assert.deepEqual(done.metadata, { k: "v" });
  },
  async "responses: reasoning and tools"() {
    const { final } = await responded("tool");
    assert.equal(final.output[0].summary[0].text, "I need the weather.");
    assert.equal(final.output[2].output, "3 degrees, rain");
    assert.equal(final.output[3].status, "failed");
  },
  async "responses: the client's tools are called"() {
    const { final } = await responded("client_tool", {
      tools: tools.map((t) => ({ type: "function", strict: false, ...t.function })),
    });
    assert.deepEqual(final.output.filter((i) => i.type === "function_call").map((i) => [i.call_id, i.name]), [["call_1", "get_weather"], ["call_2", "get_time"]]);
  },
  async "responses: agents and everything else"() {
    const { final } = await responded("recorded");
    const message = final.output.filter((i) => i.type === "message").at(-1);
    assert.equal(message.content[0].annotations[0].title, "#engineering");
  },
  async "responses: failed, incomplete, refused"() {
    assert.equal((await responded("error")).events.at(-1).response.error.message, "ollama/qwen3: the connection was lost");
    assert.equal((await responded("length")).events.at(-1).response.incomplete_details.reason, "max_output_tokens");
    assert.equal((await responded("cancelled")).events.at(-1).type, "response.incomplete");
    await assert.rejects(responded("refused"), (err) => err.status === 429);
  },
  async "responses: a stream is taken up again"() {
    const stream = await at("tool").responses.retrieve("resp_1", { stream: true, starting_after: 6 });
    const numbers = [];
    for await (const e of stream) numbers.push(e.sequence_number);
    assert.equal(numbers[0], 7);
    assert.deepEqual(numbers, numbers.map((_, i) => i + 7));
  },
  async "models"() {
    const ids = [];
    for await (const m of at("text").models.list()) ids.push(m.id);
    assert.deepEqual(ids, ["ollama/qwen3", "fettle/triage"]);
  },
  async "responses: the client cancels"() {
    const stream = await at("hang/responses").responses.create({ model: "m", input: "hi", stream: true });
    for await (const e of stream) if (e.type === "response.output_text.delta") break;
    await gone("responses");
  },
});
