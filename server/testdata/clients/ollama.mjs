import { Ollama } from "ollama";
import { assert, cancelled, city, inPath, run, weather } from "./run.mjs";

const client = new Ollama({ host: inPath });
const model = "script/m.yaml";
const say = (content) => [{ role: "user", content }];

async function told(body) {
  const parts = [];
  for await (const p of await client.chat({ model, stream: true, ...body })) parts.push(p);
  const of = (field) => parts.map((p) => p.message[field] ?? "").join("");
  return { parts, last: parts.at(-1), text: of("content"), thinking: of("thinking"), calls: parts.flatMap((p) => p.message.tool_calls ?? []) };
}

await run({
  async "text and reasoning, streamed and not"() {
    const { text, thinking, last } = await told({ messages: say("think") });
    assert.equal(text, "Hello there.");
    assert.equal(thinking, "The user greets me.");
    assert.equal(last.done_reason, "stop");
    assert.equal(last.model, model);
    assert.ok(last.eval_count > 0);
    const whole = await client.chat({ model, messages: say("think") });
    assert.equal(whole.message.content, "Hello there.");
    assert.equal(whole.done, true);
  },
  async "the client's tools, there and back"() {
    const messages = say("weather");
    const { calls, text } = await told({ messages, tools: [weather] });
    assert.deepEqual(calls.map((c) => [c.function.name, c.function.arguments]), [["get_weather", { city: "Oslo" }]]);
    const back = [...messages, { role: "assistant", content: text, tool_calls: calls }, { role: "tool", tool_name: "get_weather", content: "3 degrees" }];
    assert.equal((await told({ messages: back, tools: [weather] })).text, "It is 3 degrees in Oslo.");
    assert.equal((await told({ messages: back.slice(2).concat(say("think")), tools: [weather] })).text, "Hello there.");
  },
  async "vectors"() {
    const { embeddings } = await client.embed({ model, input: ["rain in Oslo", "snow"], dimensions: 16 });
    assert.deepEqual(embeddings.map((v) => v.length), [16, 16]);
    const { embedding } = await client.embeddings({ model, prompt: "snow" });
    assert.equal(embedding.length, 64);
  },
  async "generate: a question, and a text with a suffix"() {
    const whole = await client.generate({ model, prompt: "think" });
    assert.equal(whole.response, "Hello there.");
    assert.equal(whole.thinking, "The user greets me.");
    const parts = [];
    for await (const p of await client.generate({ model, prompt: "x = f(", suffix: ")", stream: true })) parts.push(p);
    assert.equal(parts.map((p) => p.response).join(""), "Hello.");
    assert.equal(parts.at(-1).done, true);
  },
  async "what only Ollama can do is refused in words"() {
    await assert.rejects(client.copy({ source: "a", destination: "b" }), (err) => err.status_code === 404 && /ask Ollama itself/.test(err.error));
  },
  async "an agent runs fettle's tools in fettle"() {
    const { text, calls } = await told({ model: "fettle/scribe", messages: say("note it") });
    assert.equal(text, "I note it.\n\nNoted.");
    assert.equal(calls.length, 0);
  },
  async "an answer of a schema"() {
    assert.deepEqual(JSON.parse((await client.chat({ model, messages: say("json"), format: city })).message.content), { city: "Oslo" });
  },
  async "errors"() {
    await assert.rejects(told({ messages: say("busy") }), (err) => err.status_code === 429);
    await assert.rejects(told({ messages: say("break") }), /connection was lost/);
    await assert.rejects(told({ messages: say("fails inside") }), (err) => err.status_code === 502);
    for (const model of ["script/none.yaml", "none:7b"]) {
      for (const ask of [() => told({ model, messages: say("hi") }), () => client.generate({ model, prompt: "hi" }), () => client.embed({ model, input: "hi" }), () => client.show({ model })]) {
        await assert.rejects(ask(), (err) => err.status_code === 404 && err.error.startsWith(`model "${model}" not found`));
      }
    }
  },
  async "the client cancels"() {
    const stream = await client.chat({ model, messages: say("slow"), stream: true });
    await assert.rejects(async () => {
      for await (const p of stream) if (p.message.content) stream.abort();
    }, { name: "AbortError" });
    await cancelled();
  },
  async "models"() {
    const { models } = await client.list();
    assert.deepEqual(models.map((m) => m.name), [model, "fettle/scribe"]);
    const shown = await client.show({ model });
    assert.ok(shown.capabilities.includes("tools") && shown.model_info);
    await assert.rejects(client.show({ model: "none" }), (err) => err.status_code === 404);
    assert.match((await client.version()).version, /^\d+\.\d+\.\d+$/);
    assert.equal((await client.chat({ model, messages: [] })).done_reason, "load");
  },
});
