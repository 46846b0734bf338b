import { DefaultChatTransport, readUIMessageStream, streamText, generateText, tool, jsonSchema, AbstractChat, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { assert, base, gone, run } from "./run.mjs";

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

const chatOf = (turn, more = {}, body = {}) =>
  new Chat({ id: "chat-1", transport: new DefaultChatTransport({ api: `${base}/${turn}/aisdk`, body }), ...more });

async function told(turn, more, body) {
  let error;
  const chat = chatOf(turn, { onError: (e) => (error = e), ...more }, body);
  await chat.sendMessage({ text: "hi" });
  return { chat, error, message: chat.messages.at(-1), parts: chat.messages.at(-1).parts };
}

const texts = (parts, type = "text") => parts.filter((p) => p.type === type).map((p) => p.text).join("|");
const provider = (turn) => createOpenAICompatible({ name: "fettle", baseURL: `${base}/${turn}/v1`, apiKey: "key", includeUsage: true });
const weather = (execute) => tool({
  description: "The weather of a city.",
  inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } } }),
  execute,
});

async function streamed(turn, more = {}) {
  const parts = [];
  const result = streamText({ model: provider(turn)("fettle/weather"), prompt: "hi", maxRetries: 0, onError() {}, ...more });
  for await (const p of result.fullStream) parts.push(p);
  return parts;
}

await run({
  async "ui: text"() {
    const { chat, message, error } = await told("text");
    assert.equal(error, undefined);
    assert.equal(texts(message.parts), "Hello there, world.");
    assert.equal(message.metadata.usage.output_tokens, 5);
    assert.equal(message.id, "01M8GRD3NE5KP5GV5NVZ6JTX01");
    assert.equal(chat.status, "ready");
  },
  async "ui: reasoning"() {
    const { parts } = await told("reasoning");
    assert.equal(texts(parts, "reasoning"), "The user greets me.");
    assert.equal(texts(parts), "Hello there.");
  },
  async "ui: fettle's tools"() {
    const { parts, error } = await told("tool");
    assert.equal(error, undefined);
    const [ok, bad] = parts.filter((p) => p.type === "dynamic-tool");
    assert.equal(ok.state, "output-available");
    assert.deepEqual(ok.output, { temp: 3, sky: "rain" });
    assert.equal(ok.preliminary, undefined);
    assert.equal(bad.state, "output-error");
    assert.equal(bad.errorText, "no such city");
    assert.equal(texts(parts), "Let me look.|It is 3 degrees in Oslo.");
    assert.equal(parts.filter((p) => p.type === "step-start").length, 2);
  },
  async "ui: the client's tools"() {
    const called = [];
    const { parts } = await told("client_tool", { onToolCall: ({ toolCall }) => called.push(toolCall.toolName) }, {
      tools: { get_weather: { inputSchema: { type: "object" } }, get_time: {} },
    });
    assert.deepEqual(called, ["get_weather", "get_time"]);
    assert.equal(parts.find((p) => p.type === "tool-get_weather").state, "input-available");
  },
  async "ui: agents and everything else"() {
    const seen = [];
    const { parts, error } = await told("recorded", { onData: (d) => seen.push(d.type) });
    assert.equal(error, undefined);
    assert.equal(parts.filter((p) => p.type === "data-handoff").length, 3);
    assert.ok(seen.includes("data-status") && seen.includes("data-tool-progress"));
    assert.equal(parts.find((p) => p.type === "source-url").title, "#engineering");
    assert.equal(parts.find((p) => p.type === "data-payload").data.payload_type, "draft");
  },
  async "ui: errors"() {
    const mid = await told("error");
    assert.equal(mid.error.message, "ollama/qwen3: the connection was lost");
    assert.equal(texts(mid.parts), "Hello th");
    const before = await told("refused");
    assert.equal(before.error.message, "ollama/qwen3 is overloaded");
  },
  async "ui: somebody else cancels"() {
    const { parts } = await told("cancelled");
    assert.equal(texts(parts), "Hello th");
  },
  async "ui: the client cancels"() {
    const chat = chatOf("hang/aisdk");
    const sent = chat.sendMessage({ text: "hi" });
    while (chat.lastMessage?.role !== "assistant" || !texts(chat.lastMessage.parts)) await new Promise((r) => setTimeout(r, 5));
    await chat.stop();
    await sent;
    await gone("aisdk");
  },
  async "ui: a stream is resumed, and there is nothing to resume"() {
    const chat = chatOf("tool");
    await chat.resumeStream();
    assert.match(texts(chat.lastMessage.parts), /It is 3 degrees in Oslo\.$/);
    const settled = chatOf("denied");
    await settled.resumeStream();
    assert.equal(settled.lastMessage.parts.find((p) => p.type === "dynamic-tool").state, "output-denied");
    const none = chatOf("none");
    await none.resumeStream();
    assert.equal(none.messages.length, 0);
  },
  async "ui: an approval by another request"() {
    for (const [turn, approved, state] of [["approval", true, "output-available"], ["denied", false, "output-denied"]]) {
      const chat = chatOf(turn, { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses }, { confirm: true });
      await chat.sendMessage({ text: "hi" });
      const asked = chat.lastMessage.parts.find((p) => p.type === "dynamic-tool");
      assert.equal(asked.state, "approval-requested");
      assert.equal(asked.approval.requestReason, "it reaches the network");
      await chat.addToolApprovalResponse({ id: asked.approval.id, approved, reason: "not now" });
      while (chat.status !== "ready" || !/degrees|wish/.test(texts(chat.lastMessage.parts))) await new Promise((r) => setTimeout(r, 5));
      assert.equal(chat.messages.length, 2);
      assert.equal(chat.lastMessage.parts.find((p) => p.type === "dynamic-tool").state, state);
    }
  },
  async "ui: the raw stream is read"() {
    const transport = new DefaultChatTransport({ api: `${base}/recorded/aisdk` });
    const stream = await transport.sendMessages({ chatId: "c", messages: [{ id: "1", role: "user", parts: [{ type: "text", text: "hi" }] }], trigger: "submit-message" });
    let last;
    for await (const m of readUIMessageStream({ stream })) last = m;
    assert.equal(last.role, "assistant");
  },
  async "openai-compatible: text, reasoning, usage"() {
    const parts = await streamed("reasoning");
    assert.equal(parts.filter((p) => p.type === "reasoning-delta").map((p) => p.text).join(""), "The user greets me.");
    const end = parts.find((p) => p.type === "finish");
    assert.equal(end.finishReason, "stop");
    assert.equal(end.totalUsage.outputTokens, 5);
    assert.equal(parts.find((p) => p.type === "error"), undefined);
  },
  async "openai-compatible: the client's tools"() {
    const ran = [];
    const parts = await streamed("client_tool", { tools: { get_weather: weather((i) => (ran.push(i), "3")), get_time: weather(() => "10:00") } });
    assert.deepEqual(ran, [{ city: "Oslo" }]);
    assert.equal(parts.filter((p) => p.type === "tool-result").length, 2);
  },
  async "openai-compatible: the object"() {
    const { text } = await generateText({ model: provider("tool")("m"), prompt: "hi" });
    assert.equal(text, "Let me look.\n\nIt is 3 degrees in Oslo.");
  },
  async "openai-compatible: everything else"() {
    const parts = await streamed("recorded");
    assert.equal(parts.find((p) => p.type === "error"), undefined);
  },
  async "openai-compatible: errors"() {
    const mid = (await streamed("error")).find((p) => p.type === "error");
    assert.match(JSON.stringify(mid.error.message ?? mid.error), /the connection was lost/);
    const before = (await streamed("refused")).find((p) => p.type === "error");
    assert.equal(before.error.statusCode, 429);
    assert.match(before.error.message, /overloaded/);
  },
  async "openai-compatible: the client cancels"() {
    const stop = new AbortController();
    const parts = [];
    const result = streamText({ model: provider("hang/compatible")("m"), prompt: "hi", abortSignal: stop.signal });
    for await (const p of result.fullStream) {
      parts.push(p.type);
      if (p.type === "text-delta") stop.abort();
    }
    assert.ok(parts.includes("abort"));
    await gone("compatible");
  },
});
