import Anthropic from "@anthropic-ai/sdk";
import { assert, base, cancelled, city, inPath, run, token } from "./run.mjs";

const client = new Anthropic({ baseURL: base, apiKey: token, maxRetries: 0 });
const model = "script/m.yaml";
const say = (content) => [{ role: "user", content }];
const ask = (body) => ({ model, max_tokens: 1024, ...body });
const streamed = (body, options) => client.messages.stream(ask(body), options).finalMessage();
const whole = (body, options) => client.messages.create(ask(body), options);
const text = (message) => message.content.filter((b) => b.type === "text").map((b) => b.text).join("");
const tools = [{ name: "get_weather", description: "The weather of a city.", input_schema: city }];

await run({
  async "text and reasoning, streamed and not"() {
    for (const get of [streamed, whole]) {
      const message = await get({ messages: say("think"), system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }] });
      assert.deepEqual(message.content.map((b) => b.type), ["thinking", "text"]);
      assert.equal(message.content[0].thinking, "The user greets me.");
      assert.equal(text(message), "Hello there.");
      assert.equal(message.stop_reason, "end_turn");
      assert.equal(message.model, model);
      assert.equal(message.usage.input_tokens, 12);
      assert.equal(message.usage.output_tokens, 5);
    }
  },
  async "the client's tools, there and back"() {
    for (const get of [streamed, whole]) {
      const first = await get({ messages: say("weather"), tools });
      assert.equal(first.stop_reason, "tool_use");
      const call = first.content.find((b) => b.type === "tool_use");
      assert.deepEqual([call.name, call.input], ["get_weather", { city: "Oslo" }]);
      const back = [...say("weather"), { role: "assistant", content: first.content }, ...say([{ type: "tool_result", tool_use_id: call.id, content: "3 degrees" }])];
      const second = await get({ messages: back, tools });
      assert.equal(text(second), "It is 3 degrees in Oslo.");
      const later = [...back, { role: "assistant", content: second.content }, ...say("what did you say?")];
      assert.equal(text(await get({ messages: later, tools })), "That it is 3 degrees.");
    }
  },
  async "the client's own loop of tools"() {
    const ran = [];
    const runner = client.beta.messages.toolRunner({
      ...ask({ messages: say("weather") }),
      tools: [{ ...tools[0], type: "custom", run: (input) => (ran.push(input), "3 degrees"), parse: (input) => input }],
    });
    assert.equal(text(await runner), "It is 3 degrees in Oslo.");
    assert.deepEqual(ran, [{ city: "Oslo" }]);
  },
  async "which tools have to be called"() {
    const two = [...tools, { name: "other", input_schema: { type: "object" } }];
    assert.equal((await whole({ messages: say("must any"), tools: two, tool_choice: { type: "any" } })).stop_reason, "tool_use");
    assert.equal((await whole({ messages: say("must one"), tools: two, tool_choice: { type: "tool", name: "get_weather" } })).stop_reason, "tool_use");
  },
  async "an agent runs fettle's tools in fettle"() {
    for (const message of [await streamed({ model: "fettle/scribe", messages: say("note it") }), await whole({ messages: say("note it") }, { headers: { "X-Fettle-Agent": "scribe" } })]) {
      assert.equal(text(message), "I note it.\n\nNoted.");
      assert.equal(message.stop_reason, "end_turn");
    }
  },
  async "an answer of a schema"() {
    const message = await whole({ messages: say("json"), output_config: { format: { type: "json_schema", schema: city } } });
    assert.deepEqual(JSON.parse(text(message)), { city: "Oslo" });
  },
  async "tokens are counted, and the token may be in the path"() {
    const there = new Anthropic({ baseURL: inPath, apiKey: "unused", maxRetries: 0 });
    const few = await there.messages.countTokens({ model, messages: say("hi") });
    const more = await there.messages.countTokens({ model, messages: say("hi ".repeat(500)), tools });
    assert.ok(few.input_tokens > 0 && more.input_tokens > few.input_tokens + 200, `${few.input_tokens} ${more.input_tokens}`);
    const bearer = new Anthropic({ baseURL: base, apiKey: null, authToken: token, maxRetries: 0 });
    assert.ok((await bearer.messages.countTokens({ model, messages: say("hi") })).input_tokens > 0);
  },
  async "models"() {
    const models = [];
    for await (const m of client.models.list()) models.push(m);
    assert.deepEqual(models.map((m) => [m.type, m.id]), [["model", model], ["model", "fettle/scribe"]]);
    assert.equal((await client.models.retrieve(model)).display_name, model);
    await assert.rejects(client.models.retrieve("none"), (err) => err instanceof Anthropic.NotFoundError);
  },
  async "errors before and in the stream"() {
    const causes = {
      busy: [429, "rate_limit_error"], refused: [400, "invalid_request_error"], moderated: [403, "permission_error"], "wrong key": [401, "authentication_error"],
      "no quota": [402, "billing_error"], "too long": [400, "invalid_request_error"], "fails inside": [502, "api_error"], "too busy": [529, "overloaded_error"],
    };
    for (const [cause, [status, type]] of Object.entries(causes)) {
      for (const get of [streamed, whole]) {
        const err = await get({ messages: say(cause) }).catch((err) => err);
        assert.deepEqual([err.status, err.error?.error?.type], [status, type], `${cause}: ${err}`);
        if (cause === "too long") assert.match(err.message, /prompt is too long/);
      }
    }
    await assert.rejects(streamed({ messages: say("break") }), /connection was lost/);
    for (const model of ["script/none.yaml", "claude-none", "fettle/nobody"]) {
      await assert.rejects(streamed({ model, messages: say("hi") }), (err) => err instanceof Anthropic.NotFoundError && err.error.error.type === "not_found_error");
    }
    const limited = await whole({ messages: say("limited") }).catch((err) => err);
    assert.ok(limited instanceof Anthropic.RateLimitError);
    assert.equal(limited.headers.get("retry-after"), "1");
    await assert.rejects(whole({ messages: [] }), (err) => err instanceof Anthropic.BadRequestError && /messages/.test(err.message));
    const wrong = new Anthropic({ baseURL: base, apiKey: "x".repeat(43), maxRetries: 0 });
    await assert.rejects(wrong.models.list(), (err) => err instanceof Anthropic.AuthenticationError && err.error.error.type === "authentication_error");
  },
  async "what can't change, or was repeated already, isn't asked again"() {
    for (const cause of ["refused", "wrong key", "no quota", "too long", "moderated", "fails inside", "too busy", "break before", "limited for long"]) {
      let asked = 0;
      const patient = new Anthropic({ baseURL: base, apiKey: token, fetch: (...args) => (asked++, fetch(...args)) });
      await assert.rejects(patient.messages.create(ask({ messages: say(cause) })));
      assert.equal(asked, 1, cause);
    }
  },
  async "the client cancels"() {
    const stream = await client.messages.create({ ...ask({ messages: say("slow") }), stream: true });
    for await (const e of stream) if (e.type === "content_block_delta") break;
    await cancelled();
    const stop = new AbortController();
    const whole = client.messages.create(ask({ messages: say("slow") }), { signal: stop.signal });
    setTimeout(() => stop.abort(), 200);
    await assert.rejects(whole);
    await cancelled();
  },
});
