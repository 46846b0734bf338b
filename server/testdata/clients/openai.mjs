import OpenAI from "openai";
import { assert, base, cancelled, city, inPath, run, token, weather } from "./run.mjs";

const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: token, maxRetries: 0 });
const model = "script/m.yaml";
const say = (content) => [{ role: "user", content }];

async function streamed(body, options) {
  const stream = client.chat.completions.stream({ model, stream_options: { include_usage: true }, ...body }, options);
  const reasoning = [];
  stream.on("chunk", (c) => reasoning.push(c.choices[0]?.delta.reasoning_content ?? ""));
  const final = await stream.finalChatCompletion();
  return { final, message: final.choices[0].message, reasoning: reasoning.join("") };
}

async function responded(body, options) {
  const events = [];
  const stream = client.responses.stream({ model, ...body }, options);
  for await (const e of stream) events.push(e);
  events.forEach((e, i) => assert.equal(e.sequence_number, i));
  return { final: await stream.finalResponse(), events };
}

const flat = { type: "function", strict: false, ...weather.function };

await run({
  async "chat: text and reasoning, streamed and not"() {
    const { final, message, reasoning } = await streamed({ messages: say("think") });
    assert.equal(message.content, "Hello there.");
    assert.equal(reasoning, "The user greets me.");
    assert.equal(final.choices[0].finish_reason, "stop");
    assert.equal(final.model, model);
    assert.ok(final.usage.total_tokens > 0);
    const whole = await client.chat.completions.create({ model, messages: say("think") });
    assert.equal(whole.choices[0].message.content, "Hello there.");
    assert.equal(whole.choices[0].message.reasoning_content, "The user greets me.");
  },
  async "chat: what can't change is not asked again"() {
    const causes = {
      refused: 400, moderated: 403, "wrong key": 401, "no quota": 402, paid: 402, gibberish: 424, "too long": 400,
      "no such model": 404, "no such input": 422, misses: 424,
    };
    let asked = 0;
    const patient = new OpenAI({ baseURL: `${base}/v1`, apiKey: token, fetch: (...args) => (asked++, fetch(...args)) });
    const place = { name: "place", schema: city, strict: true };
    for (const [cause, status] of Object.entries(causes)) {
      const format = cause === "misses" && { type: "json_schema", json_schema: place };
      const text = cause === "misses" && { format: { type: "json_schema", ...place } };
      for (const stream of cause === "misses" ? [false] : [false, true]) { // a stream has begun before the answer is checked
        for (const ask of [
          () => patient.chat.completions.create({ model, messages: say(cause), stream, ...(format && { response_format: format }) }),
          () => patient.responses.create({ model, input: cause, store: false, stream, ...(text && { text }) }),
        ]) {
          asked = 0;
          const err = await ask().catch((err) => err);
          assert.equal(err.status, status, `${cause}: ${err}`);
          assert.equal(asked, 1, cause);
        }
      }
    }
    for (const model of ["script/none.yaml", "nobody/none", "gpt-none", "fettle/nobody"]) {
      asked = 0;
      const err = await patient.chat.completions.create({ model, messages: say("hi") }).catch((err) => err);
      assert.ok(err instanceof OpenAI.NotFoundError, `${model}: ${err}`);
      assert.deepEqual([err.code, err.type, err.param], ["model_not_found", "invalid_request_error", "model"]);
      assert.equal(asked, 1, model);
    }
  },
  async "chat: what fettle has repeated already is not asked again, and a limit keeps its time"() {
    let asked = 0;
    const patient = new OpenAI({ baseURL: `${base}/v1`, apiKey: token, fetch: (...args) => (asked++, fetch(...args)) });
    for (const [cause, status, code] of [["fails inside", 502, "server_error"], ["too busy", 503, "server_is_overloaded"], ["break before", 502, "server_error"], ["limited for long", 429, "rate_limit_exceeded"]]) {
      for (const stream of [false, true]) {
        for (const ask of [
          () => patient.chat.completions.create({ model, messages: say(cause), stream }),
          () => patient.responses.create({ model, input: cause, store: false, stream }),
        ]) {
          asked = 0;
          const err = await ask().catch((err) => err);
          assert.deepEqual([err.status, err.code, asked], [status, code, 1], `${cause}: ${err}`);
        }
      }
    }
    for (const stream of [false, true]) {
      const err = await client.chat.completions.create({ model, messages: say("limited"), stream }).catch((err) => err);
      assert.ok(err instanceof OpenAI.RateLimitError);
      assert.deepEqual([err.headers.get("retry-after"), err.headers.get("retry-after-ms")], ["1", "20"]);
    }
    asked = 0;
    const err = await patient.chat.completions.create({ model, messages: say("limited") }).catch((err) => err);
    assert.deepEqual([err.status, asked], [429, 3]); // the client waits as it is told, twice
  },
  async "chat: usage that nobody has counted is left out"() {
    const whole = await client.chat.completions.create({ model, messages: say("uncounted") });
    assert.equal(whole.usage, undefined);
    assert.equal((await streamed({ messages: say("uncounted") })).final.usage, undefined);
    assert.equal((await client.responses.create({ model, input: "uncounted", store: false })).usage, undefined);
  },
  async "chat: the client's tools, there and back"() {
    const tools = [weather];
    const messages = [{ role: "system", content: "Be brief." }, ...say("weather")];
    for (const ask of [
      async () => (await streamed({ messages, tools })).final,
      () => client.chat.completions.create({ model, messages, tools }),
    ]) {
      const first = await ask();
      assert.equal(first.choices[0].finish_reason, "tool_calls");
      const { content, tool_calls } = first.choices[0].message;
      assert.deepEqual(tool_calls.map((c) => [c.function.name, c.function.arguments]), [["get_weather", '{"city":"Oslo"}']]);
      const back = [...messages, { role: "assistant", content, tool_calls }, { role: "tool", tool_call_id: tool_calls[0].id, content: "3 degrees" }];
      const { message, final } = await streamed({ messages: back, tools });
      assert.equal(message.content, "It is 3 degrees in Oslo.");
      assert.equal(final.choices[0].finish_reason, "stop");
    }
  },
  async "chat: the client's own loop of tools"() {
    const ran = [];
    const runner = client.chat.completions.runTools({
      model, messages: say("weather"), stream: true,
      tools: [{ type: "function", function: { name: "get_weather", parameters: city, parse: JSON.parse, function: (a) => (ran.push(a), "3 degrees") } }],
    });
    assert.equal(await runner.finalContent(), "It is 3 degrees in Oslo.");
    assert.deepEqual(ran, [{ city: "Oslo" }]);
  },
  async "chat: an agent runs fettle's tools in fettle"() {
    for (const [body, options] of [[{ model: "fettle/scribe" }, {}], [{}, { headers: { "X-Fettle-Agent": "scribe" } }]]) {
      const { message, final } = await streamed({ messages: say("note it"), ...body }, options);
      assert.equal(message.content, "I note it.\n\nNoted.");
      assert.equal(message.tool_calls, undefined);
      assert.equal(final.choices[0].finish_reason, "stop");
    }
    const refused = await client.chat.completions.create({ model: "fettle/nobody", messages: say("hi") }).catch((err) => err);
    assert.equal(refused.status, 404);
    assert.match(refused.message, /no agent nobody/);
  },
  async "chat: an answer of a schema"() {
    const done = await client.chat.completions.create({
      model, messages: say("json"), response_format: { type: "json_schema", json_schema: { name: "place", schema: city } },
    });
    assert.deepEqual(JSON.parse(done.choices[0].message.content), { city: "Oslo" });
  },
  async "chat: errors before and in the stream"() {
    for (const stream of [true, false]) {
      const err = await client.chat.completions.create({ model, messages: say("busy"), stream }).catch((err) => err);
      assert.equal(err.status, 429);
      assert.equal(err.code, "rate_limit_exceeded");
    }
    await assert.rejects(streamed({ messages: say("break") }), /connection was lost/);
    await assert.rejects(streamed({ model: "script/none.yaml", messages: say("hi") }), (err) => err.status === 404);
    await assert.rejects(streamed({ messages: [] }), (err) => err.status === 400 && err.param === "messages");
    await assert.rejects(
      streamed({ messages: [...say("x"), { role: "tool", tool_call_id: "none", content: "x" }] }),
      (err) => err.status === 400 && err.type === "invalid_request_error" && /waits for a result/.test(err.message),
    );
    const wrong = new OpenAI({ baseURL: `${base}/v1`, apiKey: "x".repeat(43), maxRetries: 0 });
    await assert.rejects(wrong.models.list(), (err) => err instanceof OpenAI.AuthenticationError && err.code === "invalid_api_key");
  },
  async "embeddings: numbers, and base64 as the client asks for by itself"() {
    const floats = await client.embeddings.create({ model, input: ["rain in Oslo", "snow"], encoding_format: "float", dimensions: 16 });
    const usual = await client.embeddings.create({ model, input: ["rain in Oslo", "snow"], dimensions: 16 });
    assert.equal(floats.data.length, 2);
    assert.equal(floats.data[0].embedding.length, 16);
    assert.deepEqual(usual.data[1].embedding.map(Math.fround), floats.data[1].embedding.map(Math.fround));
    assert.equal(usual.usage.prompt_tokens, 4);
  },
  async "completions: streamed and not, up to a suffix"() {
    const ask = { model, prompt: "x = f(", suffix: ")", max_tokens: 20 };
    const whole = await client.completions.create(ask);
    assert.equal(whole.choices[0].text, "Hello.");
    const pieces = [];
    for await (const c of await client.completions.create({ ...ask, stream: true })) pieces.push(c.choices[0]?.text ?? "");
    assert.equal(pieces.join(""), "Hello.");
    const err = await client.completions.create({ model, prompt: "busy" }).catch((err) => err);
    assert.equal(err.status, 429);
  },
  async "chat: the client cancels"() {
    const stream = await client.chat.completions.create({ model, messages: say("slow"), stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break; // leaving aborts
    await cancelled();
    const stop = new AbortController();
    const whole = client.chat.completions.create({ model, messages: say("slow") }, { signal: stop.signal });
    setTimeout(() => stop.abort(), 200);
    await assert.rejects(whole);
    await cancelled();
  },
  async "responses: text and reasoning, streamed and not"() {
    const { final, events } = await responded({ input: "think", instructions: "Be brief.", store: false });
    assert.equal(final.output_text, "Hello there.");
    assert.equal(final.output[0].summary[0].text, "The user greets me.");
    assert.equal(final.status, "completed");
    assert.equal(events[0].type, "response.created");
    const whole = await client.responses.create({ model, input: "think", store: false });
    assert.equal(whole.output_text, "Hello there.");
  },
  async "responses: the client's tools, by a conversation of its own"() {
    const input = say("weather");
    const { final } = await responded({ input, tools: [flat], store: false });
    const call = final.output.find((i) => i.type === "function_call");
    assert.deepEqual([call.name, call.arguments], ["get_weather", '{"city":"Oslo"}']);
    const back = [...input, ...final.output.map(({ parsed_arguments, ...item }) => item), { type: "function_call_output", call_id: call.call_id, output: "3 degrees" }];
    assert.equal((await responded({ input: back, tools: [flat], store: false })).final.output_text, "It is 3 degrees in Oslo.");
  },
  async "responses: tools of namespaces and custom tools"() {
    const tools = [
      { type: "custom", name: "apply_patch", description: "patches", format: { type: "grammar", syntax: "lark", definition: "start: line" } },
      { type: "namespace", name: "mcp__notes", description: "notes", tools: [{ type: "function", name: "find", parameters: city }] },
    ];
    const { final, events } = await responded({ input: say("patch it"), tools, store: false });
    const [patch, find] = final.output;
    assert.deepEqual([patch.type, patch.name, patch.input], ["custom_tool_call", "apply_patch", "*** Begin"]);
    assert.deepEqual([find.type, find.namespace, find.name, find.arguments], ["function_call", "mcp__notes", "find", '{"q":"x"}']);
    assert.equal(events.find((e) => e.type === "response.custom_tool_call_input.done").input, "*** Begin");
    const back = [
      ...say("patch it"), ...final.output.map(({ parsed_arguments, ...item }) => item),
      { type: "custom_tool_call_output", call_id: patch.call_id, output: "patched" },
      { type: "function_call_output", call_id: find.call_id, output: "found it" },
    ];
    assert.equal((await responded({ input: back, tools, store: false })).final.output_text, "Patched.");
  },
  async "responses: one goes on from another"() {
    const first = (await responded({ input: "weather", tools: [flat] })).final;
    const call = first.output.find((i) => i.type === "function_call");
    const input = [{ type: "function_call_output", call_id: call.call_id, output: "3 degrees" }];
    const second = await client.responses.create({ model, previous_response_id: first.id, input, tools: [flat] });
    assert.equal(second.output_text, "It is 3 degrees in Oslo.");
    assert.equal(second.previous_response_id, first.id);
    const third = (await responded({ previous_response_id: second.id, input: "and what did you say" })).final;
    assert.equal(third.output_text, "That it is 3 degrees.");
    const branch = (await responded({ previous_response_id: second.id, input: "and what did you say" })).final;
    assert.equal(branch.output_text, "That it is 3 degrees.");
    const unknown = { model, previous_response_id: "resp_01ARZ3NDEKTSV4RRFFQ69G5FAV", input: "x" };
    await assert.rejects(client.responses.create(unknown), (err) => err.status === 404 && err.param === "previous_response_id");
  },
  async "responses: one that was stored is there later"() {
    const first = (await responded({ input: "think", instructions: "Be brief." })).final;
    const again = await client.responses.retrieve(first.id);
    assert.deepEqual([again.id, again.status, again.output_text, again.instructions], [first.id, "completed", "Hello there.", "Be brief."]);
    assert.deepEqual(again.output, first.output.map(({ parsed, ...item }) => ({ ...item, ...(item.content && { content: item.content.map(({ parsed, ...c }) => c) }) })));
    assert.deepEqual([again.created_at, again.usage], [first.created_at, first.usage]);
    const items = [];
    for await (const item of client.responses.inputItems.list(first.id)) items.push(item);
    assert.deepEqual(items.map((i) => [i.role, i.content[0].text]), [["user", "think"]]);
    const events = [];
    for await (const e of await client.responses.retrieve(first.id, { stream: true, starting_after: 1 })) events.push(e);
    assert.equal(events[0].sequence_number, 2);
    assert.equal(events.at(-1).type, "response.completed");
    const called = (await responded({ input: "weather", tools: [flat] })).final;
    const call = (await client.responses.retrieve(called.id)).output.find((i) => i.type === "function_call");
    const input = [{ type: "function_call_output", call_id: call.call_id, output: "3 degrees" }];
    const second = await client.responses.create({ model, previous_response_id: called.id, input, tools: [flat] });
    assert.equal((await client.responses.retrieve(second.id)).previous_response_id, called.id);
    assert.equal((await client.responses.inputItems.list(second.id)).data[0].output, "3 degrees");
    await assert.rejects(client.responses.delete(called.id), (err) => err.status === 409);
    await client.responses.delete(first.id);
    for (const gone of [first.id, "resp_01ARZ3NDEKTSV4RRFFQ69G5FAV", "other"]) {
      await assert.rejects(client.responses.retrieve(gone), (err) => err.status === 404);
    }
    const kept = (await responded({ input: "think", store: false })).final;
    await assert.rejects(client.responses.retrieve(kept.id), (err) => err.status === 404);
    const broken = (await responded({ input: "break" })).events.at(-1).response;
    const failed = await client.responses.retrieve(broken.id);
    assert.deepEqual([failed.status, failed.error], ["failed", broken.error]);
  },
  async "a tool has to be called"() {
    const other = { ...weather, function: { ...weather.function, name: "other" } };
    for (const [content, choice] of [["must any", "required"], ["must one", { type: "function", function: { name: "get_weather" } }]]) {
      const done = await client.chat.completions.create({ model, messages: say(content), tools: [weather, other], tool_choice: choice });
      assert.equal(done.choices[0].finish_reason, "tool_calls");
    }
    const { final } = await responded({ input: "must one", tools: [flat], tool_choice: { type: "function", name: "get_weather" }, store: false });
    assert.equal(final.output.at(-1).name, "get_weather");
  },
  async "responses: an agent runs fettle's tools in fettle"() {
    const { final } = await responded({ model: "fettle/scribe", input: "note it" });
    assert.deepEqual(final.output.map((i) => i.type), ["message", "mcp_call", "message"]);
    assert.equal(final.output[1].output, "noted");
  },
  async "responses: errors and cancels"() {
    await assert.rejects(responded({ input: "busy" }), (err) => err.status === 429);
    assert.equal((await responded({ input: "break" })).events.at(-1).type, "response.failed");
    const stream = await client.responses.create({ model, input: "slow", stream: true });
    for await (const e of stream) if (e.type === "response.output_text.delta") break;
    await cancelled();
  },
  async "models"() {
    const ids = [];
    for await (const m of client.models.list()) ids.push(m.id);
    assert.deepEqual(ids, [model, "fettle/scribe"]);
    assert.equal((await client.models.retrieve(model)).owned_by, "script");
    for await (const m of client.models.list()) assert.ok(Math.abs(m.created - Date.now() / 1000) < 3600, m.created); // since the server runs
    await assert.rejects(client.models.retrieve("none"), (err) => err.status === 404);
    const other = new OpenAI({ baseURL: `${inPath}/v1`, apiKey: "none", maxRetries: 0 });
    assert.equal((await other.models.retrieve("fettle/scribe")).owned_by, "fettle");
  },
});
