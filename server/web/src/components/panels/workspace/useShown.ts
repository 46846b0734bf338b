import { useMemo } from "react";
import { useGeneralChat } from "@/hooks/useGeneralChat";
import { findPayloadHandler } from "@/lib/payloadHandlers";
import { useUI, type Selection } from "@/lib/ui";
import { findCall, follow, type Followed } from "@/lib/workspace/follow";
import { payloadTypeConfig } from "./types";
import { getWorkspaceMode, type WorkspaceMode } from "@/lib/workspace/workspaceMode";
import { useHandlers, useInstance, useInstances } from "./workflows/useWorkflows";
import { useLostPayload } from "./useLostPayload";

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
  const chat = useGeneralChat();
  const messages = useLostPayload(chat.messages);
  const followed = useMemo(() => follow(messages, chat.turn, known), [messages, chat.turn]);
  const rest = useRestingWorkflow(selection === null && !chat.turn);
  const target: Followed | null = selection === null && rest ? { kind: "workflow", instance: rest } : selection === null ? followed : null;

  const instanceId = selection?.kind === "workflow" ? selection.instanceId : target?.kind === "workflow" ? target.instance : null;
  const instance = useInstance(instanceId);
  const handlers = useHandlers(instanceId);
  const failed = instanceId !== null && instance.isError ? instance.error : null;

  const chosenCall = selection?.kind === "call" ? findCall(messages, chat.turn, selection.callId) : target?.kind === "call" ? target.call : null;
  const history = selection?.kind === "history" ? (messages.find((m) => m.id === selection.messageId)?.tool_history ?? (chat.turn?.turnId === selection.messageId ? chat.turn.tools : [])) : null;
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

/** useRestingWorkflow is the workflow that the chat's last answer was a part of, after a reload too. */
function useRestingWorkflow(enabled: boolean): string | null {
  const { chatId, messages } = useGeneralChat();
  const turn = messages.findLast((m) => m.role === "assistant")?.turn_id;
  const instances = useInstances(enabled && chatId !== null && turn !== undefined);
  if (!enabled || !turn) return null;
  return instances.data?.find((i) => i.chat_id === chatId && i.turn_id === turn)?.id ?? null;
}
