import type { Schemas } from "@/lib/api/client";
import type { LiveTurn } from "@/hooks/useGeneralChat";
import type { GeneralChatMessage, ShownPayload, ToolCall, WorkspacePayload } from "@/types/chat";
import { shownAsWorkspace } from "./payload";
import { ownRenderer } from "./ownView";
import { fields, text } from "./read";

/** Followed is what the panel shows by itself: the newest result of the answers. */
export type Followed =
  | { kind: "workflow"; instance: string }
  | { kind: "payload"; payload: WorkspacePayload; payloadId?: string; call?: ToolCall }
  | { kind: "call"; call: ToolCall };

export type Running = Pick<LiveTurn, "tools" | "payloads" | "workflow">;

interface Answer {
  /** of the message, once the turn has ended */
  id?: string;
  tools: ToolCall[];
  payloads: ShownPayload[];
  workspace_payload?: WorkspacePayload;
}

/** follow chooses among the running answer and those before it, the newest first. */
export function follow(messages: GeneralChatMessage[], turn: Running | null, known: (type: string) => boolean): Followed | null {
  if (turn?.workflow?.instance) return { kind: "workflow", instance: turn.workflow.instance };
  // The files of a chat can't be read while its first turn runs, so texts wait for the end.
  const live = turn && ofAnswer({ tools: turn.tools.filter((c) => c.workspace_payload || !texts.includes(rendererOf(c))), payloads: turn.payloads }, known);
  if (live) return live;
  for (let i = messages.length - 1; i >= 0; i--) {
    const m = messages[i];
    if (m?.role !== "assistant") continue;
    const found = ofAnswer({ id: m.id, tools: m.tool_history.filter(Boolean), payloads: m.payloads, workspace_payload: m.workspace_payload }, known);
    if (found) return found;
  }
  return null;
}

/**
 * ofAnswer prefers what waits for a person: a model's payload stands behind the
 * calls it rests on. Then a call's payload, and else a page that a call made.
 */
function ofAnswer(answer: Answer, known: (type: string) => boolean): Followed | null {
  const modelsOwn = last(answer.payloads, (p) => p.source === "model");
  if (modelsOwn) return { kind: "payload", payload: shownAsWorkspace(modelsOwn), payloadId: modelsOwn.payload_id };
  const call = last(answer.tools, (c) => c.workspace_payload !== undefined && c.workspace_payload !== null);
  const payload = call?.workspace_payload ?? answer.workspace_payload;
  if (payload) {
    // A type without a view is shown in the same way as its call.
    if (call && !known(payload.type) && ownRenderer(payload.render_plan) === "" && isPage(call)) return { kind: "call", call };
    return { kind: "payload", payload, call, payloadId: callPayloadId(answer.id, call) };
  }
  const shown = last(answer.payloads, () => true);
  if (shown) return { kind: "payload", payload: shownAsWorkspace(shown), payloadId: shown.payload_id };
  const page = last(answer.tools, isPage);
  return page ? { kind: "call", call: page } : null;
}

/** callPayloadId is what the server knows a call's workspace payload by: its message, and its call there. */
export function callPayloadId(message: string | undefined, call: ToolCall | undefined): string | undefined {
  if (call?.payload_id) return call.payload_id;
  return message && call?.tool_use_id ? `${message}.${call.tool_use_id}` : undefined;
}

function last<T>(all: T[], is: (entry: T) => boolean): T | undefined {
  for (let i = all.length - 1; i >= 0; i--) {
    const entry = all[i];
    if (entry !== undefined && is(entry)) return entry;
  }
  return undefined;
}

const pages = ["html", "frame", "mcp_app", "table"];
const texts = ["code", "document"];

/** isPage reports whether a call has something to look at, beyond its text. A failed call has its error alone. */
function isPage(call: ToolCall): boolean {
  if (call.call_id === undefined || call.status === "running") return false;
  const renderer = rendererOf(call);
  return pages.includes(renderer) || (texts.includes(renderer) && call.status === "success");
}

function rendererOf(call: ToolCall): string {
  const plan = fields(call.render_plan);
  return call.renderer || text(plan.type ?? plan.renderer, 40);
}

/** findCall finds a call of the chat by its id. */
export function findCall(messages: GeneralChatMessage[], turn: Running | null, callId: string): ToolCall {
  const all = [...messages.flatMap((m) => m.tool_history), ...(turn?.tools ?? [])];
  // One of another branch is rendered all the same.
  return all.find((c) => c?.call_id === callId) ?? { tool_name: "Tool call", input: {}, output: "", call_id: callId };
}

/** olderPayload is the newest result that the server lists of a chat: what is shown where none of the loaded messages has one. */
export function olderPayload(listed: Schemas["ShownPayload"][] | undefined): Followed | null {
  const newest = listed?.at(-1);
  return newest ? { kind: "payload", payload: shownAsWorkspace({ ...newest, payload_id: newest.id }), payloadId: newest.id } : null;
}
