import { useMemo } from "react";
import { useChat } from "@/hooks/useGeneralChat";
import { findPayloadHandler } from "@/lib/payloadHandlers";
import { useUI, type Selection } from "@/lib/ui";
import type { ToolCall } from "@/types/chat";
import { findCall, follow, olderPayload, type Followed } from "@/lib/workspace/follow";
import { payloadTypeConfig } from "./types";
import { getWorkspaceMode, type WorkspaceMode } from "@/lib/workspace/workspaceMode";
import { useHandlers, useInstance, useInstances } from "./workflows/useWorkflows";
import { usePayloads } from "./useDecision";
import "./payloads";

export interface Shown {
  mode: WorkspaceMode;
  /** nothing is chosen: it changes with the answer */
  following: boolean;
  payloadId?: string;
  /** the call that gave the payload */
  callId?: string;
  /** what choosing this would be, so that it stays */
  pin: Selection | null;
  failed: unknown;
  retry(): void;
}

function known(type: string): boolean {
  return Object.hasOwn(payloadTypeConfig, type) || findPayloadHandler(type) !== undefined;
}

/** useShown is what the result tab shows: what a person chose, else the newest result. */
export function useShown(selection: Selection | null): Shown {
  const chat = useChat((s) => ({ chatId: s.chatId, messages: s.messages, older: s.before !== null, turnId: s.turn?.turnId, tools: s.turn?.tools, payloads: s.turn?.payloads, workflow: s.turn?.workflow }));
  const { tools, payloads, workflow } = chat;
  const { messages } = chat;
  const turn = useMemo(() => (tools && payloads ? { tools: tools.filter(Boolean), payloads, workflow: workflow ?? null } : null), [tools, payloads, workflow]);
  const near = useMemo(() => follow(messages, turn, known), [messages, turn]);
  const listed = usePayloads(near === null && chat.older ? chat.chatId : null);
  const followed = near ?? olderPayload(listed.data);
  const rest = useRestingWorkflow(selection === null && !turn);
  const target: Followed | null = selection === null && rest ? { kind: "workflow", instance: rest } : selection === null ? followed : null;

  const instanceId = selection?.kind === "workflow" ? selection.instanceId : target?.kind === "workflow" ? target.instance : null;
  const instance = useInstance(instanceId);
  const handlers = useHandlers(instanceId);
  const failed = instanceId !== null && instance.isError ? instance.error : null;

  const chosenCall = selection?.kind === "call" ? findCall(messages, turn, selection.callId) : target?.kind === "call" ? target.call : null;
  const history = selection?.kind === "history" ? callsOf(messages.find((m) => m.id === selection.messageId)?.tool_history ?? (chat.turnId === selection.messageId ? tools : [])) : null;
  const payload = selection?.kind === "payload" ? selection.payload : target?.kind === "payload" ? target.payload : null;
  const payloadId = selection?.kind === "payload" ? selection.payloadId : target?.kind === "payload" ? target.payloadId : undefined;
  const mode = getWorkspaceMode({
    workflowInstance: instance.data ?? null,
    workflowHandlers: handlers,
    isWorkflowProcessing: instanceId !== null && !failed,
    selectedTool: chosenCall,
    selectedToolHistory: history,
    activePayload: payload,
  });
  return {
    mode,
    following: selection === null,
    payloadId,
    callId: target?.kind === "payload" ? target.call?.call_id : undefined,
    pin: pinOf(target, useUI((s) => s.chat) ?? chat.chatId ?? ""),
    failed,
    retry: () => void instance.refetch(),
  };
}

function pinOf(target: Followed | null, chatId: string): Selection | null {
  switch (target?.kind) {
    case "workflow":
      return { kind: "workflow", instanceId: target.instance };
    case "call":
      return target.call.call_id ? { kind: "call", callId: target.call.call_id } : null;
    case "payload":
      return { kind: "payload", payload: target.payload, payloadId: target.payloadId, chatId };
    default:
      return null;
  }
}

// A call that runs beside another may not have its place yet.
function callsOf(calls: ToolCall[] | undefined): ToolCall[] {
  return (calls ?? []).filter(Boolean);
}

/** useRestingWorkflow is the workflow that the chat's last answer was a part of, after a reload too. */
function useRestingWorkflow(enabled: boolean): string | null {
  const { chatId, turn } = useChat((s) => ({ chatId: s.chatId, turn: s.messages.findLast((m) => m.role === "assistant")?.turn_id }));
  const instances = useInstances(enabled && chatId !== null && turn !== undefined);
  if (!enabled || !turn) return null;
  return instances.data?.find((i) => i.chat_id === chatId && i.turn_id === turn)?.id ?? null;
}
