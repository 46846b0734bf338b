import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { tell, tellFault } from "@/components/ui/Toasts";
import { useChat } from "@/hooks/useGeneralChat";
import { perform } from "@/lib/clientAction";
import { words } from "@/lib/workspace/read";
import { api, unwrap } from "@/lib/api/client";
import { ApiFault } from "@/lib/api/fault";
import type { FoundHandler } from "@/lib/payloadHandlers";
import { useFollowTurn } from "./workflows/useWorkflows";

/** usePayloads are all payloads of a chat's branch, as far as its turns have ended. */
export function usePayloads(chatId: string | null) {
  return useQuery({
    queryKey: ["payloads", chatId],
    enabled: chatId !== null,
    queryFn: async () => unwrap(await api.GET("/api/chats/{chat}/payloads", { params: { path: { chat: chatId ?? "" } } })).payloads,
  });
}

/**
 * useDecision is what a person says to a payload. It is said once: the server
 * keeps the first, and who comes later is shown that one.
 */
export function useDecision(payloadId: string | undefined, handler?: FoundHandler) {
  const chatId = useChat((s) => s.chatId);
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
  return { shown, decision: shown?.decision, decide };
}
