import { ChatOllama, Ollama, OllamaEmbeddings } from "@langchain/ollama";
import { ChatOpenAI, OpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { assert, base, city, inPath, run, token } from "./run.mjs";

const model = "script/m.yaml";
const openai = { model, apiKey: token, maxRetries: 0, configuration: { baseURL: `${base}/v1` } };
const ollama = { model, baseUrl: inPath, maxRetries: 0 };
const tools = [{ type: "function", function: { name: "get_weather", description: "The weather of a city.", parameters: city } }];
const kinds = {
  openai: () => new ChatOpenAI(openai),
  responses: () => new ChatOpenAI({ ...openai, useResponsesApi: true }),
  ollama: () => new ChatOllama(ollama),
};

const scenarios = {};
for (const [kind, make] of Object.entries(kinds)) {
  Object.assign(scenarios, {
    async [`${kind}: text, whole and streamed`]() {
      assert.equal((await make().invoke("think")).text, "Hello there.");
      const pieces = await Array.fromAsync(await make().stream("think"));
      assert.equal(pieces.map((p) => p.text).join(""), "Hello there.");
    },
    async [`${kind}: tools that the client runs`]() {
      const bound = make().bindTools(tools);
      const first = await bound.invoke([new HumanMessage("weather")]);
      assert.deepEqual(first.tool_calls.map((c) => [c.name, c.args]), [["get_weather", { city: "Oslo" }]]);
      const back = new ToolMessage({ content: "3 degrees", tool_call_id: first.tool_calls[0].id, name: "get_weather" });
      assert.match((await bound.invoke([new HumanMessage("weather"), first, back])).text, /It is 3 degrees in Oslo\.$/);
    },
    async [`${kind}: an object of a schema`]() {
      const schema = { title: "place", ...city };
      assert.deepEqual(await make().withStructuredOutput(schema, { method: "jsonSchema" }).invoke("json"), { city: "Oslo" });
    },
    async [`${kind}: failures have their own words`]() {
      for (const [cause, status, words] of [["busy", 429, /slow down/], ["fails inside", 502, /internal error/], ["wrong key", 401, /the key is unknown/]]) {
        const err = await make().invoke(cause).catch((err) => err);
        assert.equal(err.status ?? err.status_code, status, `${cause}: ${err}`);
        assert.match(err.message, words);
      }
    },
  });
}

await run({
  ...scenarios,
  async "a model that is not there"() {
    await assert.rejects(new ChatOpenAI({ ...openai, model: "gpt-none" }).invoke("hi"), (err) => err.status === 404 && err.code === "model_not_found");
    await assert.rejects(new ChatOllama({ ...ollama, model: "none:7b" }).invoke("hi"), /model "none:7b" not found/);
    await assert.rejects(new Ollama({ ...ollama, model: "none:7b" }).invoke("hi"), /model "none:7b" not found/);
  },
  async "texts without a conversation, and vectors"() {
    assert.equal(await new OpenAI(openai).invoke("x = f("), "Hello.");
    assert.equal(await new Ollama(ollama).invoke("hi"), "Hello.");
    assert.equal((await new OllamaEmbeddings(ollama).embedQuery("snow")).length, 64);
    const vectors = await new OpenAIEmbeddings({ ...openai, dimensions: 16 }).embedDocuments(["rain", "snow"]);
    assert.deepEqual(vectors.map((v) => v.length), [16, 16]);
  },
});
