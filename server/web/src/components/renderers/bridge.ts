// The host's side of an MCP App (io.modelcontextprotocol/ui, 2026-01-26), as a
// machine without effects: what comes in gives what is to be done. What the view
// sends is a stranger's and is checked before it means anything.

export const protocolVersion = "2026-01-26";

type Id = string | number;
type Fields = Record<string, unknown>;

export interface Bridge {
  phase: "loading" | "sent" | "initializing" | "ready" | "closed";
  /** requests of the view that have no answer yet */
  open: readonly Id[];
  /** a question to the person, one at a time */
  asking: Id | null;
}

export const newBridge: Bridge = { phase: "loading", open: [], asking: null };

/** Host is what the view is told of the page and of the call. */
export interface Host {
  html: string;
  csp: unknown;
  context: Fields;
  toolInput: unknown;
  toolResult: unknown;
}

export type Input =
  | { type: "message"; data: unknown }
  | { type: "answer"; id: Id; result: unknown }
  | { type: "refusal"; id: Id; message: string }
  | { type: "context"; context: Fields }
  | { type: "close" };

export type Effect =
  | { do: "post"; message: Fields }
  | { do: "resize"; height: number }
  | { do: "openLink"; id: Id; url: string }
  | { do: "message"; id: Id; text: string }
  | { do: "callTool"; id: Id; name: string; arguments: Fields }
  | { do: "readResource"; id: Id; uri: string }
  | { do: "close" };

// More at once is a mistake, or meant to keep the page busy.
const maxOpen = 16;
const maxText = 20_000;
const maxAddress = 4_096;
const heights = { least: 40, most: 2_000 };

const codes = { invalidRequest: -32600, methodNotFound: -32601, invalidParams: -32602, refused: -32000 };

export function step(bridge: Bridge, input: Input, host: Host): [Bridge, Effect[]] {
  if (bridge.phase === "closed") return [bridge, []];
  switch (input.type) {
    case "message":
      return hear(bridge, input.data, host);
    case "answer":
      return finish(bridge, input.id, { result: input.result });
    case "refusal":
      return finish(bridge, input.id, { error: { code: codes.refused, message: input.message } });
    case "context":
      return [bridge, bridge.phase === "ready" ? [notify("ui/notifications/host-context-changed", input.context)] : []];
    case "close":
      // The view is about to go: it may save what it has. Nothing waits for its answer.
      return [{ ...bridge, phase: "closed" }, bridge.phase === "ready" ? [post({ id: "fettle-teardown", method: "ui/resource-teardown", params: {} })] : []];
  }
}

function hear(bridge: Bridge, data: unknown, host: Host): [Bridge, Effect[]] {
  const message = fields(data);
  if (message?.jsonrpc !== "2.0" || typeof message.method !== "string") return [bridge, []];
  const params = fields(message.params) ?? {};
  const { id } = message;
  if (id === undefined) return noted(bridge, message.method, params, host);
  if (!isId(id)) return [bridge, []];
  return asked(bridge, id, message.method, params, host);
}

function noted(bridge: Bridge, method: string, params: Fields, host: Host): [Bridge, Effect[]] {
  switch (method) {
    case "ui/notifications/sandbox-proxy-ready":
      if (bridge.phase !== "loading") return [bridge, []];
      // None of the permissions that it wants is given.
      return [{ ...bridge, phase: "sent" }, [notify("ui/notifications/sandbox-resource-ready", { html: host.html, csp: host.csp, permissions: {} })]];
    case "ui/notifications/initialized":
      if (bridge.phase !== "initializing") return [bridge, []];
      return [
        { ...bridge, phase: "ready" },
        [notify("ui/notifications/tool-input", { arguments: fields(host.toolInput) ?? {} }), notify("ui/notifications/tool-result", fields(host.toolResult) ?? { content: [] })],
      ];
    case "ui/notifications/size-changed": {
      const { height } = params;
      if (bridge.phase !== "ready" && bridge.phase !== "initializing") return [bridge, []];
      if (typeof height !== "number" || !Number.isFinite(height) || height < 0) return [bridge, []];
      return [bridge, [{ do: "resize", height: Math.round(Math.min(heights.most, Math.max(heights.least, height))) }]];
    }
    case "ui/notifications/request-teardown":
      return bridge.phase === "ready" ? [bridge, [{ do: "close" }]] : [bridge, []];
  }
  return [bridge, []];
}

function asked(bridge: Bridge, id: Id, method: string, params: Fields, host: Host): [Bridge, Effect[]] {
  if (method === "ping") return [bridge, [answer(id, {})]];
  if (method === "ui/initialize") {
    if (bridge.phase !== "sent" && bridge.phase !== "initializing") return [bridge, [refuse(id, codes.invalidRequest, "it is initialized already")]];
    return [{ ...bridge, phase: "initializing" }, [answer(id, initialized(host))]];
  }
  if (bridge.phase !== "ready") return [bridge, [refuse(id, codes.invalidRequest, "ui/initialize comes first")]];
  if (bridge.open.includes(id)) return [bridge, [refuse(id, codes.invalidRequest, "the id is in use")]];
  if (method === "ui/request-display-mode") return [bridge, [answer(id, { mode: "inline" })]];
  const effect = effectOf(id, method, params);
  if (typeof effect === "string") return [bridge, [refuse(id, codes.invalidParams, effect)]];
  if (!effect) return [bridge, [refuse(id, codes.methodNotFound, `${method.slice(0, 100)} is not offered here`)]];
  if (bridge.open.length >= maxOpen) return [bridge, [refuse(id, codes.refused, "too many requests wait")]];
  const asks = effect.do === "openLink" || effect.do === "message";
  if (asks && bridge.asking !== null) return [bridge, [refuse(id, codes.refused, "another question waits for the person")]];
  return [{ ...bridge, open: [...bridge.open, id], asking: asks ? id : bridge.asking }, [effect]];
}

/** effectOf is what a request asks for; a text says what is wrong with it, null that there is no such thing. */
function effectOf(id: Id, method: string, params: Fields): Effect | string | null {
  switch (method) {
    case "tools/call":
      if (typeof params.name !== "string" || !params.name) return "name is needed";
      if (params.arguments !== undefined && !fields(params.arguments)) return "arguments have to be an object";
      return { do: "callTool", id, name: params.name, arguments: fields(params.arguments) ?? {} };
    case "resources/read":
      if (typeof params.uri !== "string" || !params.uri) return "uri is needed";
      return { do: "readResource", id, uri: params.uri };
    case "ui/open-link":
      return isLink(params.url) ? { do: "openLink", id, url: params.url } : "url has to be an http or https address";
    case "ui/message": {
      const text = textOf(params);
      return text === "" || text.length > maxText ? `content has to be text of at most ${maxText} characters` : { do: "message", id, text };
    }
  }
  return null;
}

function initialized(host: Host): Fields {
  return {
    protocolVersion,
    hostInfo: { name: "fettle", version: "1" },
    hostCapabilities: { openLinks: {}, serverTools: {}, serverResources: {}, logging: {}, message: { text: {} }, sandbox: { permissions: {}, csp: host.csp } },
    hostContext: host.context,
  };
}

function finish(bridge: Bridge, id: Id, outcome: Fields): [Bridge, Effect[]] {
  if (!bridge.open.includes(id)) return [bridge, []];
  const open = bridge.open.filter((o) => o !== id);
  return [{ ...bridge, open, asking: bridge.asking === id ? null : bridge.asking }, [post({ id, ...outcome })]];
}

function isLink(url: unknown): url is string {
  if (typeof url !== "string" || url.length > maxAddress) return false;
  try {
    return ["http:", "https:"].includes(new URL(url).protocol);
  } catch {
    return false;
  }
}

/** textOf is the text of a message of a person's; nothing else is taken. */
function textOf(params: Fields): string {
  if (params.role !== "user" || !Array.isArray(params.content)) return "";
  const blocks = params.content.map(fields);
  if (!blocks.every((b) => b?.type === "text" && typeof b.text === "string")) return "";
  return blocks.map((b) => String(b?.text)).join("\n\n").trim();
}

function fields(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function isId(id: unknown): id is Id {
  return (typeof id === "string" && id.length <= 200) || (typeof id === "number" && Number.isFinite(id));
}

const post = (message: Fields): Effect => ({ do: "post", message: { jsonrpc: "2.0", ...message } });
const notify = (method: string, params: Fields): Effect => post({ method, params });
const answer = (id: Id, result: Fields): Effect => post({ id, result });
const refuse = (id: Id, code: number, message: string): Effect => post({ id, error: { code, message } });
