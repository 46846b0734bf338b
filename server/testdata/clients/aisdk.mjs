import { AbstractChat, DefaultChatTransport, generateText, isStepCount, jsonSchema, lastAssistantMessageIsCompleteWithToolCalls, streamText, tool } from "ai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { assert, base, cancelled, city, inPath, run, token } from "./run.mjs";

// Chat is useChat without a page.
class Chat extends AbstractChat {
  constructor({ messages = [], ...init }) {
    const state = {
      status: "ready", error: undefined, messages,
      pushMessage(m) { this.messages = this.messages.concat(m); },
      popMessage() { this.messages = this.messages.slice(0, -1); },
      replaceMessage(i, m) { this.messages = [...this.messages.slice(0, i), m, ...this.messages.slice(i + 1)]; },
      snapshot: (v) => structuredClone(v),
    };
    super({ ...init, state });
  }
}

let threads = 0;
const chatOf = (body = {}, more = {}) => {
  const chat = new Chat({
    id: `thread-${++threads}`, transport: new DefaultChatTransport({ api: `${inPath}/aisdk`, body }), onError: (e) => (chat.failed = e), ...more,
  });
  return chat;
};
const texts = (chat, type = "text") => chat.lastMessage?.role !== "assistant" ? "" :
  chat.lastMessage.parts.filter((p) => p.type === type).map((p) => p.text).join("|");
const until = async (is) => { while (!is()) await new Promise((r) => setTimeout(r, 5)); };

const fettle = createOpenAICompatible({ name: "fettle", baseURL: `${base}/v1`, apiKey: token, includeUsage: true });
const model = "script/m.yaml";
const tools = { get_weather: tool({ description: "The weather of a city.", inputSchema: jsonSchema(city), execute: () => "3 degrees" }) };

async function streamed(more) {
  const parts = [];
  const result = streamText({ model: fettle(model), maxRetries: 0, onError() {}, ...more });
  for await (const p of result.fullStream) parts.push(p);
  return parts;
}
const textOf = (parts, type = "text-delta") => parts.filter((p) => p.type === type).map((p) => p.text).join("");

await run({
  async "openai-compatible: text, reasoning, usage"() {
    const parts = await streamed({ prompt: "think" });
    assert.equal(textOf(parts), "Hello there.");
    assert.equal(textOf(parts, "reasoning-delta"), "The user greets me.");
    assert.ok(parts.find((p) => p.type === "finish").totalUsage.outputTokens > 0);
    assert.equal((await generateText({ model: fettle(model), prompt: "think" })).text, "Hello there.");
  },
  async "openai-compatible: the client's tools, there and back"() {
    const parts = await streamed({ prompt: "weather", tools, stopWhen: isStepCount(3) });
    assert.equal(parts.find((p) => p.type === "tool-result").output, "3 degrees");
    assert.match(textOf(parts), /It is 3 degrees in Oslo\.$/);
    assert.equal(parts.find((p) => p.type === "error"), undefined);
  },
  async "openai-compatible: an agent runs fettle's tools in fettle"() {
    const parts = await streamed({ model: fettle("fettle/scribe"), prompt: "note it" });
    assert.equal(textOf(parts), "I note it.\n\nNoted.");
    assert.equal(parts.find((p) => p.type.startsWith("tool")), undefined);
  },
  async "openai-compatible: errors"() {
    for (const [prompt, status] of [["busy", 429], ["fails inside", 502], ["too busy", 503], ["wrong key", 401]]) {
      assert.equal((await streamed({ prompt })).find((p) => p.type === "error").error.statusCode, status);
    }
    await assert.rejects(generateText({ model: fettle("gpt-none"), prompt: "hi" }), (err) => err.statusCode === 404 && err.isRetryable === false);
    assert.match(JSON.stringify((await streamed({ prompt: "break" })).find((p) => p.type === "error").error), /connection was lost/);
  },
  async "openai-compatible: the client cancels"() {
    const stop = new AbortController();
    const result = streamText({ model: fettle(model), prompt: "slow", abortSignal: stop.signal });
    for await (const p of result.fullStream) if (p.type === "text-delta") stop.abort();
    await cancelled();
  },
  async "ui: text and reasoning"() {
    const chat = chatOf();
    await chat.sendMessage({ text: "think" });
    assert.equal(texts(chat), "Hello there.");
    assert.equal(texts(chat, "reasoning"), "The user greets me.");
    assert.equal(chat.failed, undefined);
  },
  async "ui: the client's tools, there and back"() {
    const chat = chatOf({ tools: { get_weather: { description: "The weather of a city.", inputSchema: city } } }, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall }) => void chat.addToolOutput({ tool: toolCall.toolName, toolCallId: toolCall.toolCallId, output: "3 degrees" }),
    });
    await chat.sendMessage({ text: "weather" });
    await until(() => chat.failed || chat.status === "ready" && /Oslo/.test(texts(chat)));
    assert.equal(chat.failed, undefined);
    assert.equal(chat.lastMessage.parts.find((p) => p.type === "tool-get_weather").state, "output-available");
    await chat.sendMessage({ text: "and what did you say" });
    assert.equal(texts(chat), "That it is 3 degrees.");
  },
  async "ui: a conversation that the server doesn't know"() {
    const part = (text) => ({ type: "text", text });
    const chat = chatOf({}, { messages: [
      { id: "1", role: "user", parts: [part("hi")] }, { id: "2", role: "assistant", parts: [part("It is 3 degrees in Oslo.")] },
    ] });
    await chat.sendMessage({ text: "and what did you say" });
    assert.equal(texts(chat), "That it is 3 degrees.");
  },
  async "ui: an agent runs fettle's tools in fettle"() {
    const chat = chatOf({ model: "fettle/scribe" });
    await chat.sendMessage({ text: "note it" });
    assert.equal(chat.lastMessage.parts.find((p) => p.type === "dynamic-tool").state, "output-available");
    assert.equal(texts(chat), "I note it.|Noted.");
  },
  async "ui: errors"() {
    for (const [text, why] of [["busy", /slow down/], ["break", /connection was lost/]]) {
      const chat = chatOf();
      await chat.sendMessage({ text });
      assert.match(chat.failed.message, why);
    }
  },
  async "ui: the client leaves, comes back, and cancels"() {
    const chat = chatOf();
    const sent = chat.sendMessage({ text: "slow" });
    await until(() => texts(chat));
    await chat.stop();
    await sent;
    const again = chatOf({}, { id: chat.id });
    const resumed = again.resumeStream(); // the turn went on without its client
    await until(() => texts(again) === "Half");
    const turn = (await fetch(`${inPath}/aisdk/${chat.id}/stream`)).headers.get("x-fettle-turn");
    await fetch(`${inPath}/api/turns/${turn}/cancel`, { method: "POST" });
    await resumed;
    await cancelled();
  },
});
