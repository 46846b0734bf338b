import { Ollama, OllamaEmbedding } from "@llamaindex/ollama";
import { OpenAI, OpenAIEmbedding } from "@llamaindex/openai";
import { assert, base, inPath, run, token } from "./run.mjs";

const model = "script/m.yaml";
const openai = { model, apiKey: token, baseURL: `${base}/v1`, maxRetries: 0 };
const ollama = { model, config: { host: inPath } };
const messages = (content) => [{ role: "user", content }];
const textOf = ({ message: { content } }) => (typeof content === "string" ? content : content.map((c) => c.text ?? "").join(""));
const kinds = { openai: (more) => new OpenAI({ ...openai, ...more }), ollama: (more) => new Ollama({ ...ollama, ...more }) };

const scenarios = {};
for (const [kind, make] of Object.entries(kinds)) {
  Object.assign(scenarios, {
    async [`${kind}: a chat, whole and streamed`]() {
      assert.equal(textOf(await make().chat({ messages: messages("think") })), "Hello there.");
      const pieces = await Array.fromAsync(await make().chat({ messages: messages("think"), stream: true }));
      assert.equal(pieces.map((p) => p.delta).join(""), "Hello there.");
    },
    async [`${kind}: a text is completed`]() {
      assert.equal((await make().complete({ prompt: "think" })).text, "Hello there.");
    },
    async [`${kind}: failures have their own words`]() {
      await assert.rejects(make().chat({ messages: messages("fails inside") }), (err) => (err.status ?? err.status_code) === 502 && /internal error/.test(err.message));
      await assert.rejects(make().chat({ messages: messages("busy") }), (err) => (err.status ?? err.status_code) === 429);
      await assert.rejects(make({ model: "none" }).chat({ messages: messages("hi") }), (err) => (err.status ?? err.status_code) === 404);
    },
  });
}

await run({
  ...scenarios,
  async "vectors"() {
    assert.equal((await new OllamaEmbedding(ollama).getTextEmbedding("snow")).length, 64);
    assert.equal((await new OpenAIEmbedding({ ...openai, dimensions: 16 }).getTextEmbedding("snow")).length, 16);
  },
});
