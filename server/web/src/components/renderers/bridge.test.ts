import { describe, expect, it } from "vitest";
import { newBridge, step, type Bridge, type Effect, type Host, type Input } from "./bridge";

const host: Host = {
  html: "<p>app</p>",
  csp: { connectDomains: [] },
  context: { theme: "dark" },
  toolInput: { city: "Oslo" },
  toolResult: { content: [{ type: "text", text: "3C" }], structuredContent: { temp: 3 } },
};

const note = (method: string, params: unknown = {}): Input => ({ type: "message", data: { jsonrpc: "2.0", method, params } });
const ask = (id: unknown, method: string, params: unknown = {}): Input => ({ type: "message", data: { jsonrpc: "2.0", id, method, params } });

/** run gives the inputs one after the other. */
function run(inputs: Input[], from: Bridge = newBridge): { bridge: Bridge; effects: Effect[] } {
  let bridge = from;
  const effects: Effect[] = [];
  for (const input of inputs) {
    const [next, out] = step(bridge, input, host);
    bridge = next;
    effects.push(...out);
  }
  return { bridge, effects };
}

const posts = (effects: Effect[]) => effects.flatMap((e) => (e.do === "post" ? [e.message] : []));
const handshake = [note("ui/notifications/sandbox-proxy-ready"), ask(1, "ui/initialize", { protocolVersion: "2026-01-26" }), note("ui/notifications/initialized")];
const ready = run(handshake).bridge;

describe("the handshake", () => {
  it("sends the page, answers ui/initialize, and then the input before the result", () => {
    const { bridge, effects } = run(handshake);
    const sent = posts(effects);
    expect(sent.map((m) => m.method ?? `answer ${String(m.id)}`)).toEqual([
      "ui/notifications/sandbox-resource-ready",
      "answer 1",
      "ui/notifications/tool-input",
      "ui/notifications/tool-result",
    ]);
    expect(sent[0]?.params).toEqual({ html: "<p>app</p>", csp: { connectDomains: [] }, permissions: {} });
    expect(sent[1]?.result).toMatchObject({ protocolVersion: "2026-01-26", hostInfo: { name: "fettle" }, hostContext: { theme: "dark" } });
    expect(sent[2]?.params).toEqual({ arguments: { city: "Oslo" } });
    expect(sent[3]?.params).toEqual(host.toolResult);
    expect(bridge.phase).toBe("ready");
  });
  it("sends each once, however often the view says so", () => {
    const { effects } = run([...handshake, note("ui/notifications/sandbox-proxy-ready"), note("ui/notifications/initialized")]);
    expect(posts(effects)).toHaveLength(4);
  });
  it("tells nothing of the call to a view that skips it", () => {
    const { effects } = run([note("ui/notifications/sandbox-proxy-ready"), note("ui/notifications/initialized"), ask(2, "tools/call", { name: "refresh" })]);
    const sent = posts(effects);
    expect(sent).toHaveLength(2);
    expect(sent[1]?.error).toMatchObject({ code: -32600 });
  });
});

describe("requests", () => {
  it("passes calls on, and answers them once", () => {
    const called = run([ask("a", "tools/call", { name: "refresh", arguments: { a: 1 } })], ready);
    expect(called.effects).toEqual([{ do: "callTool", id: "a", name: "refresh", arguments: { a: 1 } }]);
    const { effects } = run([{ type: "answer", id: "a", result: { content: [] } }, { type: "answer", id: "a", result: { content: [] } }], called.bridge);
    expect(posts(effects)).toEqual([{ jsonrpc: "2.0", id: "a", result: { content: [] } }]);
  });
  it("says a refusal", () => {
    const { bridge } = run([ask(5, "resources/read", { uri: "ui://x" })], ready);
    expect(posts(run([{ type: "refusal", id: 5, message: "not allowed" }], bridge).effects)).toEqual([{ jsonrpc: "2.0", id: 5, error: { code: -32000, message: "not allowed" } }]);
  });
  it("asks one question at a time", () => {
    const first = run([ask(1, "ui/open-link", { url: "https://example.org/" })], ready);
    expect(first.effects).toEqual([{ do: "openLink", id: 1, url: "https://example.org/" }]);
    const second = run([ask(2, "ui/message", { role: "user", content: [{ type: "text", text: "hi" }] })], first.bridge);
    expect(posts(second.effects)[0]?.error).toMatchObject({ code: -32000 });
    const after = run([{ type: "answer", id: 1, result: {} }, ask(3, "ui/message", { role: "user", content: [{ type: "text", text: "hi" }] })], second.bridge);
    expect(after.effects.at(-1)).toEqual({ do: "message", id: 3, text: "hi" });
  });
  it("bounds how many wait", () => {
    const many = Array.from({ length: 40 }, (_, i) => ask(i, "tools/call", { name: "t" }));
    const { effects } = run(many, ready);
    expect(effects.filter((e) => e.do === "callTool")).toHaveLength(16);
  });
  it.each([
    ["ui/open-link", { url: "javascript:alert(1)" }],
    ["ui/open-link", { url: "file:///etc/passwd" }],
    ["ui/open-link", {}],
    ["ui/message", { role: "assistant", content: [{ type: "text", text: "x" }] }],
    ["ui/message", { role: "user", content: [{ type: "image", data: "x" }] }],
    ["ui/message", { role: "user", content: "x" }],
    ["ui/message", { role: "user", content: [{ type: "text", text: "x".repeat(20_001) }] }],
    ["tools/call", { name: 3 }],
    ["tools/call", { name: "t", arguments: [1] }],
    ["resources/read", {}],
  ])("refuses %s with %o", (method, params) => {
    const { effects } = run([ask(9, method, params)], ready);
    expect(effects).toHaveLength(1);
    expect(posts(effects)[0]?.error).toMatchObject({ code: -32602 });
  });
  it("offers neither sampling nor anything that it doesn't know", () => {
    for (const method of ["sampling/createMessage", "ui/update-model-context", "ui/download-file", "approve", "__proto__"]) {
      expect(posts(run([ask(1, method)], ready).effects)[0]?.error).toMatchObject({ code: -32601 });
    }
  });
  it("stays inline", () => {
    expect(posts(run([ask(1, "ui/request-display-mode", { mode: "fullscreen" })], ready).effects)[0]?.result).toEqual({ mode: "inline" });
  });
});

describe("what is no message", () => {
  it.each([null, "x", 1, [], {}, { jsonrpc: "1.0", method: "ping", id: 1 }, { jsonrpc: "2.0", id: 1, result: {} }, { jsonrpc: "2.0", method: { toString: 1 } }, { jsonrpc: "2.0", method: "ping", id: { a: 1 } }])(
    "ignores %o",
    (data) => {
      expect(run([{ type: "message", data }], ready).effects).toEqual([]);
    },
  );
});

describe("size, context and end", () => {
  it("keeps heights within reason", () => {
    const heights = [{ height: 300.4 }, { height: 1e9 }, { height: 1 }, { height: "100px" }, { height: Number.NaN }, { width: 4 }].map(
      (params) => run([note("ui/notifications/size-changed", params)], ready).effects[0],
    );
    expect(heights).toEqual([{ do: "resize", height: 300 }, { do: "resize", height: 2000 }, { do: "resize", height: 40 }, undefined, undefined, undefined]);
  });
  it("tells of another theme only when the view listens", () => {
    expect(run([{ type: "context", context: { theme: "light" } }]).effects).toEqual([]);
    expect(posts(run([{ type: "context", context: { theme: "light" } }], ready).effects)).toEqual([{ jsonrpc: "2.0", method: "ui/notifications/host-context-changed", params: { theme: "light" } }]);
  });
  it("tells the view that it goes, and hears it no more", () => {
    const { bridge, effects } = run([{ type: "close" }, ask(1, "tools/call", { name: "t" })], ready);
    expect(posts(effects).map((m) => m.method)).toEqual(["ui/resource-teardown"]);
    expect(bridge.phase).toBe("closed");
  });
});
