// Messages of the API as document 000's messages.
import type { Message, Part, Schemas } from "@/lib/api/client";
import { argument } from "@/lib/argument";
import { joinMarkers, type Segment } from "@/lib/markers";
import { record } from "@/lib/record";
import { workspacePayload } from "@/lib/workspace/payload";
import { textOf, type LiveTurn } from "@/lib/turn";
import type { Attachment, CustomPayload, GeneralChatMessage, ShownPayload, SuggestedAction, SuggestedValue, ThoughtStep, ToldOfCall, ToolCall, WorkspacePayload } from "@/types/chat";

/** CallOfPage is what list_messages tells of a call beyond its message's parts. */
type CallOfPage = Pick<Schemas["CallView"], "id" | "message_id" | "tool_use_id" | "tool_id" | "index" | "status"> & Partial<Pick<Schemas["CallView"], "app_of" | "app_calls" | "args" | "result" | "workspace_payload" | "workspace_plan">> & ToldOfCall;

/** messagesOf gives a page's messages. */
export function messagesOf(messages: Message[], calls: CallOfPage[] = [], siblings: Record<string, Schemas["siblings"]> = {}): GeneralChatMessage[] {
  const byMessage = new Map<string, Map<string, CallOfPage>>();
  const apps = new Map<string, ToolCall[]>();
  for (const call of calls) {
    if (call.app_of) {
      apps.set(call.app_of, [...(apps.get(call.app_of) ?? []), appCall(call)]);
      continue;
    }
    const map = byMessage.get(call.message_id) ?? new Map<string, CallOfPage>();
    byMessage.set(call.message_id, map.set(call.tool_use_id, call));
  }
  return messages.map((m) => messageOf(m, byMessage.get(m.id), apps, siblings[m.id]));
}

/** appCall is a call that a page made, which no message has among its parts. */
function appCall(call: CallOfPage): ToolCall {
  return { tool_name: bare(call.tool_id), tool_id: call.tool_id, input: record(call.args), output: outputOf(call), tool_use_id: call.tool_use_id, status: call.status as ToolCall["status"], ...told(call) };
}

function outputOf(call: CallOfPage): string {
  const { text } = record(call.result);
  if (typeof text === "string") return text;
  return call.error ?? "The output is too long for a list; the workspace shows it.";
}

/** told is what a call's record tells of it. */
function told(call: CallOfPage) {
  return {
    call_id: call.id, undone: call.undone, error: call.error, duration_ms: call.duration_ms, render_plan: call.render_plan, renderer: call.renderer,
    workspace_payload: workspacePayload(call.workspace_payload, call.workspace_plan) ?? undefined, payload_id: call.payload_id,
    pre_manifest_id: call.pre_manifest_id, post_manifest_id: call.post_manifest_id, changes: call.changes, changed: call.changed,
  };
}

function messageOf(message: Message, calls?: Map<string, CallOfPage>, apps?: Map<string, ToolCall[]>, siblings?: Schemas["siblings"]): GeneralChatMessage {
  const read = new Reader(calls, apps);
  // An answer that failed before its first word has none, which the server writes as null.
  for (const part of message.parts ?? []) read.part(part);
  return {
    id: message.id,
    role: message.role === "user" ? "user" : "assistant",
    content: joinMarkers(read.segments),
    timestamp: message.created_at,
    turn_id: message.turn_id,
    thoughts: read.thoughts,
    tool_history: read.tools,
    attachments: read.attachments,
    payloads: read.payloads,
    footnotes: message.footnotes ?? [],
    status: statusOf(message.status),
    ...(message.error ? { error: message.error.message, fault: { ...message.error, hints: message.error.hints ?? [] } } : {}),
    model: message.model,
    usage: message.usage,
    siblings,
    suggested_values: message.suggested_values as SuggestedValue[] | undefined,
    suggested_actions: message.suggested_actions as SuggestedAction[] | undefined,
    custom_payload: message.custom_payload as CustomPayload | undefined,
    workspace_payload: workspacePayload(message.workspace_payload) ?? undefined,
  };
}

/** messageOfTurn is the answer of a turn that has ended, until the server's comes. */
export function messageOfTurn(turn: LiveTurn, at: string): GeneralChatMessage {
  const end = turn.ended;
  const payload = end?.type === "complete" ? end.payload : null;
  return {
    id: payload?.message_id || turn.turnId,
    role: "assistant",
    content: payload?.message || textOf(turn),
    timestamp: at,
    turn_id: turn.turnId,
    thoughts: turn.thoughts,
    tool_history: turn.tools,
    attachments: turn.attachments,
    payloads: turn.payloads,
    footnotes: turn.footnotes,
    status: end?.type === "cancelled" ? "cancelled" : end?.type === "error" ? "error" : "complete",
    ...(end?.type === "error" ? { error: end.message, fault: end } : {}),
    model: turn.model,
    usage: turn.usage,
    suggested_values: payload?.suggested_values as SuggestedValue[] | undefined,
    suggested_actions: payload?.suggested_actions as SuggestedAction[] | undefined,
    custom_payload: payload?.custom_payload,
    workspace_payload: (payload?.workspace_payload ?? undefined) as WorkspacePayload | undefined,
  };
}

function statusOf(status: string): GeneralChatMessage["status"] {
  return status === "interrupted" || status === "cancelled" || status === "error" ? status : "complete";
}

/** Reader goes through a message's parts in order. */
class Reader {
  segments: Segment[] = [];
  thoughts: ThoughtStep[] = [];
  tools: ToolCall[] = [];
  attachments: Attachment[] = [];
  payloads: ShownPayload[] = [];
  private step = 0;
  private readonly calls;
  private readonly apps;

  constructor(calls: Map<string, CallOfPage> | undefined, apps: Map<string, ToolCall[]> | undefined) {
    this.calls = calls;
    this.apps = apps;
  }

  part(part: Part) {
    const agent = part.agent ?? "";
    switch (part.type) {
      case "text":
        this.text(part.text ?? "", part.step ?? 0);
        break;
      case "reasoning":
      case "agent_text":
        if (part.text) this.thoughts.push({ type: "reasoning", agent, text: part.text });
        break;
      case "agent_start":
        this.thoughts.push({ type: "agent_start", agent });
        break;
      case "handoff":
        this.thoughts.push({ type: "handoff", from: agent, to: part.name ?? "", ...(part.text ? { reason: part.text } : {}) });
        break;
      case "tool_call":
        this.call(part, agent);
        break;
      case "tool_result":
        this.result(part);
        break;
      case "payload":
        if (part.payload) this.payloads.push({ ...part.payload, payload_id: part.payload.id });
        break;
      case "image":
      case "file":
        this.attachments.push(attachmentOf(part));
    }
  }

  private text(text: string, step: number) {
    const last = this.segments.at(-1);
    if (last?.kind !== "text") this.segments.push({ kind: "text", text });
    else last.text += (step !== this.step ? "\n\n" : "") + text;
    this.step = step;
  }

  private call(part: Part, agent: string) {
    if (!part.call) return;
    const { id, name, args } = part.call;
    const known = this.calls?.get(id);
    const input = record(args);
    const index = known?.index ?? this.tools.length;
    const tool = bare(name);
    this.tools[index] = {
      tool_name: tool, tool_id: known?.tool_id ?? name, input, output: "", tool_use_id: id,
      status: known ? (known.status as ToolCall["status"]) : "pending",
      ...(known ? { ...told(known), apps: this.apps?.get(known.id), app_calls: known.app_calls } : {}),
    };
    this.thoughts.push({ type: "tool_call", agent, tool, query: argument(input), tool_use_id: id });
    this.segments.push({ kind: "tool", index });
  }

  private result(part: Part) {
    const result = part.result;
    if (!result) return;
    const call = this.tools.find((t) => t?.tool_use_id === result.id);
    if (call) {
      call.output = result.text;
      call.status = result.error ? "error" : "success";
      if (result.error) call.error ??= result.text.replace(/^error: /, "");
    }
    const made = this.thoughts.find((t) => t.type === "tool_call" && t.tool_use_id === result.id);
    this.thoughts.push({
      type: "tool_result", agent: made?.type === "tool_call" ? made.agent : "", tool: bare(result.name), result: result.text,
      tool_use_id: result.id, ...(result.error ? { failed: true } : {}),
    });
  }
}

function attachmentOf(part: Part): Attachment {
  const mime = part.mime ?? (part.type === "image" ? "image/png" : "text/plain");
  // The content is base64; only pictures that a browser draws without scripts are shown.
  const drawn = part.type === "image" && part.data && /^image\/(png|jpeg|gif|webp|avif)$/.test(mime);
  return {
    name: part.name || (part.type === "image" ? "image" : "file"), mime, doc: part.doc,
    size: part.text !== undefined ? new Blob([part.text]).size : part.data ? Math.floor(part.data.length * 0.75) : undefined,
    ...(drawn ? { preview: `data:${mime};base64,${part.data}` } : {}),
  };
}

function bare(id: string): string {
  return id.slice(id.indexOf(":") + 1);
}
