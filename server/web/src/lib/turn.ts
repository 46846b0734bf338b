// The answer that is being made, from the events of its turn. Everything here is
// a pure function, so that a replay gives what was seen live.
import type { TurnEvent } from "@/lib/api/client";
import { argument } from "@/lib/argument";
import { joinMarkers, type Segment } from "@/lib/markers";
import { record } from "@/lib/record";
import { workspacePayload } from "@/lib/workspace/payload";
import type { ActiveToolProgress, Approval, ApprovalForm, ApprovalReview, Attachment, ChatFault, ShownPayload, ThoughtStep, ToolCall, ToolProgressEvent, Usage } from "@/types/chat";

/** LiveTurn is what is known of the answer so far. */
export interface LiveTurn {
  turnId: string;
  thoughts: ThoughtStep[];
  tools: ToolCall[]; // by place; those that run have no output yet
  progress: Record<string, ActiveToolProgress>; // by tool_use_id
  approvals: Approval[]; // that wait
  payloads: ShownPayload[];
  footnotes: string[];
  attachments: Attachment[];
  /** the running workflow's last event, where the turn is one */
  workflow: { instance: string; step: string; state: string; progress?: number; data?: unknown } | null;
  // Added: what the panel shows and the state needs.
  seq: number; // of the last event
  segments: Segment[]; // text and the places of cards
  status: string | null;
  agent: string;
  model: string;
  usage?: Usage;
  ended: TurnEnd | null;
}

export type TurnEnd =
  | { type: "complete"; messageId: string; payload: Extract<TurnEvent, { type: "complete" }>["payload"] }
  | ({ type: "error" } & ChatFault)
  | { type: "cancelled" };

export function newTurn(turnId: string): LiveTurn {
  return {
    turnId, thoughts: [], tools: [], progress: {}, approvals: [], payloads: [], footnotes: [], attachments: [], workflow: null,
    seq: 0, segments: [], status: null, agent: "", model: "", ended: null,
  };
}

/** textOf is the answer's text so far, with its markers. */
export function textOf(turn: LiveTurn): string {
  return joinMarkers(turn.segments);
}

// What a call tells while it runs is for looking at; its output comes at its end.
const maxUpdates = 100;

/** reduce adds an event to a turn. One that it has already changes nothing. */
export function reduce(turn: LiveTurn, event: TurnEvent): LiveTurn {
  if (event.seq <= turn.seq) return turn;
  return { ...turn, seq: event.seq, ...change(turn, event) };
}

function change(turn: LiveTurn, event: TurnEvent): Partial<LiveTurn> {
  switch (event.type) {
    case "status":
      return { status: event.message };
    case "agent_start":
      return { agent: event.agent, thoughts: [...turn.thoughts, { type: "agent_start", agent: event.agent }] };
    case "handoff":
      return { thoughts: [...turn.thoughts, { type: "handoff", from: event.from, to: event.to, ...(event.reason ? { reason: event.reason } : {}) }] };
    case "reasoning":
      return { ...reasoned(turn, event.text, event.agent ?? turn.agent), status: null };
    case "text_delta":
      return { segments: said(turn.segments, event.text), status: null };
    case "tool_start":
      return started(turn, event);
    case "tool_progress":
      return { progress: { ...turn.progress, [event.tool_use_id]: progressed(turn.progress[event.tool_use_id], event) } };
    case "tool_complete":
      return completed(turn, event);
    case "confirm_request":
      return { approvals: [...turn.approvals.filter((a) => a.tool_use_id !== event.tool_use_id), asked(event)] };
    case "confirm_result":
      return { approvals: turn.approvals.filter((a) => a.tool_use_id !== event.tool_use_id) };
    case "payload":
      return { payloads: [...turn.payloads, shown(event)] };
    case "workflow":
      return { workflow: { instance: event.instance, step: event.step, state: event.state, progress: event.progress, data: event.data } };
    case "meta":
      return { model: event.model, ...(event.usage ? { usage: event.usage } : {}) };
    case "footnote":
      return { footnotes: [...turn.footnotes, event.text] };
    case "complete":
      return ended(turn, { type: "complete", messageId: event.payload.message_id, payload: event.payload });
    case "error":
      return ended(turn, { type: "error", message: event.message, code: event.code, retryable: event.retryable, hints: event.hints ?? [] });
    case "cancelled":
      return ended(turn, { type: "cancelled" });
    default:
      return {}; // a newer server's
  }
}

function said(segments: Segment[], text: string): Segment[] {
  const last = segments.at(-1);
  if (last?.kind !== "text") return [...segments, { kind: "text", text }];
  return [...segments.slice(0, -1), { kind: "text", text: last.text + text }];
}

function reasoned(turn: LiveTurn, text: string, agent: string): Partial<LiveTurn> {
  if (!text) return {};
  const last = turn.thoughts.at(-1);
  const thoughts: ThoughtStep[] =
    last?.type === "reasoning" && last.agent === agent
      ? [...turn.thoughts.slice(0, -1), { ...last, text: last.text + text }]
      : [...turn.thoughts, { type: "reasoning", agent, text }];
  return { thoughts };
}

function started(turn: LiveTurn, event: Extract<TurnEvent, { type: "tool_start" }>): Partial<LiveTurn> {
  const input = record(event.input);
  const agent = event.agent ?? turn.agent;
  const call: ToolCall = {
    tool_name: event.tool, input, output: "", tool_id: event.tool_id, call_id: event.tool_call_id, tool_use_id: event.tool_use_id, status: "running",
  };
  const tools = turn.tools.slice();
  tools[event.index] = call;
  return {
    tools,
    segments: [...turn.segments, { kind: "tool", index: event.index }],
    thoughts: [...turn.thoughts, { type: "tool_call", agent, tool: event.tool, query: argument(input), tool_use_id: event.tool_use_id }],
    progress: { ...turn.progress, [event.tool_use_id]: { toolName: event.tool, toolUseId: event.tool_use_id, updates: [] } },
    approvals: turn.approvals.filter((a) => a.tool_use_id !== event.tool_use_id),
    status: `Running ${event.tool}…`,
  };
}

function progressed(was: ActiveToolProgress | undefined, event: Extract<TurnEvent, { type: "tool_progress" }>): ActiveToolProgress {
  const update: ToolProgressEvent = {
    type: "tool_progress", tool: event.tool, stage: event.stage, message: event.message, progress: event.progress, data: event.data,
  };
  return {
    toolName: event.tool, toolUseId: event.tool_use_id, updates: [...(was?.updates ?? []).slice(1 - maxUpdates), update],
  };
}

function completed(turn: LiveTurn, event: Extract<TurnEvent, { type: "tool_complete" }>): Partial<LiveTurn> {
  const progress = { ...turn.progress };
  delete progress[event.tool_use_id];
  const was = turn.tools[event.index];
  const tools = turn.tools.slice();
  tools[event.index] = {
    tool_name: event.tool, input: was?.input ?? {}, output: event.result, tool_id: event.tool_id, call_id: event.tool_call_id, tool_use_id: event.tool_use_id,
    status: event.status === "success" ? "success" : "error", error: event.error, duration_ms: event.duration_ms,
    workspace_payload: workspacePayload(event.workspace_payload, event.workspace_plan) ?? undefined,
    payload: event.payload, render_plan: event.render_plan,
    pre_manifest_id: event.pre_manifest_id, post_manifest_id: event.post_manifest_id,
    changes: event.changes, changed: event.changes?.length ?? 0,
  };
  const step: ThoughtStep = {
    type: "tool_result", agent: agentOf(turn, event.tool_use_id), tool: event.tool, result: event.result || event.error || "",
    tool_use_id: event.tool_use_id, ...(event.status === "success" ? {} : { failed: true }),
  };
  // A call that was denied or couldn't start has no tool_start.
  const segments: Segment[] = was ? turn.segments : [...turn.segments, { kind: "tool", index: event.index }];
  return { tools, progress, segments, thoughts: [...turn.thoughts, step], status: null };
}

function agentOf(turn: LiveTurn, useId: string): string {
  for (const step of turn.thoughts) if (step.type === "tool_call" && step.tool_use_id === useId) return step.agent;
  return turn.agent;
}

function asked(event: Extract<TurnEvent, { type: "confirm_request" }>): Approval {
  return {
    turn_id: event.turn_id, tool_use_id: event.tool_use_id, tool: event.tool, tool_id: event.tool_id, input: record(event.input),
    reason: event.reason, rule: event.rule, ...(event.form ? { form: event.form as ApprovalForm } : {}),
    ...(event.review ? { review: event.review as ApprovalReview } : {}),
  };
}

function shown(event: Extract<TurnEvent, { type: "payload" }>): ShownPayload {
  return {
    payload_id: event.payload_id, type: event.payload_type, data: event.data, title: event.title, source: event.source,
    toolset_id: event.toolset_id, render_plan: event.render_plan,
  };
}

function ended(turn: LiveTurn, end: TurnEnd): Partial<LiveTurn> {
  return { ended: end, status: null, approvals: [], progress: {}, tools: turn.tools.map(interrupted) };
}

function interrupted(call: ToolCall): ToolCall {
  return call.status === "running" ? { ...call, status: "error", error: "it was cut short" } : call;
}
