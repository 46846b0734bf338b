// Continue's adapters, which its editor extensions ask models by: chat, edits with prediction of
// code, and vectors.
import { constructLlmApi } from "@continuedev/openai-adapters";
import { assert, base, inPath, run, token, weather } from "./run.mjs";

const model = "script/m.yaml";
const own = { apiKey: token, apiBase: `${base}/v1/` };
const kinds = {
  openai: constructLlmApi({ provider: "openai", ...own }),
  ollama: constructLlmApi({ provider: "ollama", apiKey: "none", apiBase: `${inPath}/v1/` }),
  anthropic: constructLlmApi({ provider: "anthropic", ...own }),
};
const { signal } = new AbortController();
const say = (content) => [{ role: "user", content }];
const ask = (messages, more = {}) => ({ model, messages, max_tokens: 64, ...more });
const textOf = (chunks) => chunks.map((c) => c.choices[0]?.delta?.content ?? "").join("");

const scenarios = {};
for (const [kind, api] of Object.entries(kinds)) {
  Object.assign(scenarios, {
    async [`${kind}: a chat, whole and streamed`]() {
      const whole = await api.chatCompletionNonStream(ask(say("hi")), signal);
      assert.equal(whole.choices[0].message.content, "Hello.");
      assert.equal(textOf(await Array.fromAsync(api.chatCompletionStream(ask(say("think"), { stream: true }), signal))), "Hello there.");
    },
    async [`${kind}: tools that the client runs`]() {
      const chunks = await Array.fromAsync(api.chatCompletionStream(ask(say("weather"), { tools: [weather], stream: true }), signal));
      const calls = chunks.flatMap((c) => c.choices[0]?.delta?.tool_calls ?? []);
      const { id } = calls.find((c) => c.id);
      assert.equal(calls.find((c) => c.function?.name).function.name, "get_weather");
      assert.deepEqual(JSON.parse(calls.map((c) => c.function?.arguments ?? "").join("")), { city: "Oslo" });
      const call = { id, type: "function", function: { name: "get_weather", arguments: '{"city":"Oslo"}' } };
      const back = [...say("weather"), { role: "assistant", content: "", tool_calls: [call] }, { role: "tool", tool_call_id: id, content: "3 degrees" }];
      assert.match(textOf(await Array.fromAsync(api.chatCompletionStream(ask(back, { tools: [weather], stream: true }), signal))), /It is 3 degrees in Oslo\.$/);
    },
    async [`${kind}: failures have their own words`]() {
      const fails = (body) => assert.rejects(Array.fromAsync(api.chatCompletionStream({ ...body, stream: true }, signal)));
      await fails(ask(say("refused")));
      await fails({ ...ask(say("hi")), model: "none" });
    },
  });
}

await run({
  ...scenarios,
  async "code is completed, with and without what follows"() {
    for (const api of [kinds.openai, kinds.ollama]) {
      const whole = await api.completionNonStream({ model, prompt: "x = f(", max_tokens: 64 }, signal);
      assert.equal(whole.choices[0].text, "Hello.");
      const pieces = await Array.fromAsync(api.completionStream({ model, prompt: "x = f(", suffix: ")", max_tokens: 64, stream: true }, signal));
      assert.equal(pieces.map((p) => p.choices[0]?.text ?? "").join(""), "Hello.");
    }
  },
  async "vectors and models"() {
    const { data } = await kinds.openai.embed({ model, input: ["snow", "rain"], dimensions: 16 });
    assert.deepEqual(data.map((d) => d.embedding.length), [16, 16]);
    assert.ok((await kinds.openai.list()).some((m) => m.id === model));
  },
});
