import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { tell, tellFault } from "@/components/ui/Toasts";
import { useChat } from "@/hooks/useGeneralChat";
import { perform } from "@/lib/clientAction";
import { words } from "@/lib/workspace/read";
import { api, unwrap } from "@/lib/api/client";
import { ApiFault } from "@/lib/api/fault";
import type { FoundHandler, PayloadCallbacks } from "@/lib/payloadHandlers";
import { dataOf } from "@/lib/workspace/payload";
import type { WorkspacePayload } from "@/types/chat";
import type { PayloadTypeConfig } from "./types";
import { useFollowTurn } from "./workflows/useWorkflows";

/** usePayloads are all payloads of a chat's branch, as far as its turns have ended. */
export function usePayloads(chatId: string | null) {
  return useQuery({
    queryKey: ["payloads", chatId],
    enabled: chatId !== null,
    queryFn: async () => unwrap(await api.GET("/api/chats/{chat}/payloads", { params: { path: { chat: chatId ?? "" } } })).payloads,
  });
}

/** Decidable is a payload with the handler and the look of its type. */
interface Decidable {
  payload: WorkspacePayload;
  payloadId?: string;
  handler?: FoundHandler;
  config: PayloadTypeConfig;
}

/**
 * useDecision returns the decision about a payload, for its card and its panel. The server
 * keeps the first decision; a later one gets that.
 */
export function useDecision({ payload, payloadId, handler, config }: Decidable) {
  const { chatId, running } = useChat((s) => ({ chatId: s.chatId, running: s.turn !== null }));
  const client = useQueryClient();
  const follow = useFollowTurn();
  const all = usePayloads(payloadId ? chatId : null);
  const shown = all.data?.find((p) => p.id === payloadId);
  const decide = useMutation({
    mutationFn: async ({ accept, remark, data }: { accept: boolean; remark: string; data: unknown }) => {
      const params = { path: { chat: chatId ?? "", payload: payloadId ?? "" } };
      const body = { confirm: true, ...(remark ? { remark } : {}) };
      const answer = accept
        ? await api.POST("/api/chats/{chat}/payloads/{payload}/accept", { params, body })
        : await api.POST("/api/chats/{chat}/payloads/{payload}/reject", { params, body });
      return { ...unwrap(answer), accept, given: data };
    },
    onSuccess: ({ accept, again, turn, given, payload: decided }) => {
      void client.invalidateQueries({ queryKey: ["payloads", chatId] });
      if (again) {
        tell(accept ? "It was accepted before" : "It was rejected before");
        return;
      }
      // The page does its part after the server has noted the decision, so that it does it once.
      if (accept) handler?.onAccept?.(given);
      else handler?.onReject?.(given);
      if (turn) follow(turn);
      const action = decided.decision?.reaction?.action;
      if (action) void perform({ action, data: given, chat: chatId, payload_id: payloadId }).then((acknowledged) => acknowledged && tell(`The page carried out “${words(action)}”.`));
    },
    onError: (error) => {
      if (error instanceof ApiFault && error.status === 409) void client.invalidateQueries({ queryKey: ["payloads", chatId] });
      tellFault("Nothing was decided", error);
    },
  });
  const data = dataOf(payload);
  const onDecide = (accept: boolean, remark = "") => decide.mutate({ accept, remark, data });
  // A payload that the server does not list can't be decided there: the page's own handler is called.
  const callbacks: PayloadCallbacks = payloadId
    ? { onAccept: () => onDecide(true), onReject: () => onDecide(false) }
    : { onAccept: handler?.onAccept && (() => handler.onAccept?.(data)), onReject: handler?.onReject && (() => handler.onReject?.(data)) };
  const decision = shown?.decision;
  const offers = (config.decided || handler?.onAccept !== undefined || handler?.onReject !== undefined) && handler?.from !== "page";
  return {
    callbacks,
    /** what a DecisionBar shows; null where nothing is to be decided and nothing was */
    bar: payloadId !== undefined && (decision !== undefined || offers) ? { decision, ready: shown !== undefined && !running, busy: decide.isPending, onDecide } : null,
  };
}
