// The AI SDK at the versions that programs in use have: each with the provider package of its
// time, over chat completions, and OpenAI's provider over the Responses API.
import { createOpenAI } from "@ai-sdk/openai";
import * as ai5 from "ai5";
import * as ai6 from "ai6";
import * as ai7 from "ai7";
import { createOpenAICompatible as compatible1 } from "compatible1";
import { createOpenAICompatible as compatible2 } from "compatible2";
import { assert, base, city, run, token } from "./run.mjs";

const own = { baseURL: `${base}/v1`, apiKey: token };
const model = "script/m.yaml";
const kinds = {
  "ai 5": [ai5, compatible1({ name: "fettle", ...own, includeUsage: true })],
  "ai 6": [ai6, compatible2({ name: "fettle", ...own, includeUsage: true })],
  "ai 7, responses": [ai7, createOpenAI(own)],
};

const scenarios = {};
for (const [kind, [ai, provider]] of Object.entries(kinds)) {
  const asked = (prompt, more = {}) => ({ model: provider(model), prompt, maxRetries: 0, ...more });
  const tools = { get_weather: ai.tool({ description: "The weather of a city.", inputSchema: ai.jsonSchema(city), execute: () => "3 degrees" }) };
  const most = (ai.stepCountIs ?? ai.isStepCount)(3);
  Object.assign(scenarios, {
    async [`${kind}: text and reasoning, whole and streamed`]() {
      const whole = await ai.generateText(asked("think"));
      assert.equal(whole.text, "Hello there.");
      assert.match(whole.reasoningText, /The user greets me\./);
      assert.equal(whole.usage.outputTokens, 5);
      const streamed = ai.streamText(asked("think"));
      assert.equal((await Array.fromAsync(streamed.textStream)).join(""), "Hello there.");
      assert.equal((await streamed.usage).inputTokens, 12);
    },
    async [`${kind}: tools that the client runs`]() {
      const streamed = ai.streamText(asked("weather", { tools, stopWhen: most }));
      const parts = await Array.fromAsync(streamed.fullStream);
      assert.equal(parts.find((p) => p.type === "tool-result").output, "3 degrees");
      assert.match(await streamed.text, /It is 3 degrees in Oslo\.$/);
    },
    async [`${kind}: an object of a schema`]() {
      const { output } = await ai.generateText(asked("json", { [ai === ai5 ? "experimental_output" : "output"]: ai.Output.object({ schema: ai.jsonSchema(city) }) }))
        .then((r) => ({ output: ai === ai5 ? r.experimental_output : r.output }));
      assert.deepEqual(output, { city: "Oslo" });
    },
    async [`${kind}: failures have the status of their nature`]() {
      for (const [cause, status, again] of [["busy", 429, true], ["fails inside", 502, true], ["wrong key", 401, false], ["no quota", 402, false], ["too long", 400, false]]) {
        const err = await ai.generateText(asked(cause)).catch((err) => err);
        assert.deepEqual([err.statusCode, err.isRetryable], [status, again], `${cause}: ${err}`);
        const errors = [];
        await Array.fromAsync(ai.streamText(asked(cause, { onError: ({ error }) => errors.push(error.statusCode) })).fullStream);
        assert.deepEqual(errors, [status], cause);
      }
      await assert.rejects(ai.generateText({ ...asked("hi"), model: provider("gpt-none") }), (err) => err.statusCode === 404);
    },
    async [`${kind}: tokens that nobody counted are not zero`]() {
      const { usage } = await ai.generateText(asked("uncounted"));
      assert.ok(!usage.inputTokens && usage.inputTokens !== 0, JSON.stringify(usage));
    },
  });
}
await run(scenarios);
