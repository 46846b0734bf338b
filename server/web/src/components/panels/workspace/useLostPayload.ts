import { useQueries } from "@tanstack/react-query";
import { useGeneralChat } from "@/hooks/useGeneralChat";
import { request } from "@/lib/api/client";
import { workspacePayload } from "@/lib/workspace/payload";
import { fields } from "@/lib/workspace/read";
import type { GeneralChatMessage, WorkspacePayload } from "@/types/chat";

const most = 4;

/**
 * useLostPayload fills in what the list of messages doesn't carry: after a reload,
 * the workspace payload of the last answer is asked of its calls.
 */
export function useLostPayload(messages: GeneralChatMessage[]): GeneralChatMessage[] {
  const { chatId } = useGeneralChat();
  const at = messages.findLastIndex((m) => m.role === "assistant");
  const answer = messages[at];
  const calls =
    answer && !answer.workspace_payload && !answer.tool_history.some((c) => c.workspace_payload)
      ? // A builtin, which has no toolset before its name, gives none.
        answer.tool_history.filter((c) => c.call_id && c.status !== "error" && (c.tool_id?.includes(":") ?? true)).slice(-most)
      : [];
  const found = useQueries({
    queries: calls.map((c) => ({
      queryKey: ["workspace", chatId, "call", c.call_id],
      staleTime: Infinity,
      retry: false,
      queryFn: async (): Promise<WorkspacePayload | null> => {
        const body: unknown = await (await request(`/api/tool-calls/${encodeURIComponent(c.call_id ?? "")}`)).json();
        const call = fields(fields(body).call);
        return workspacePayload(fields(call.result).workspace_payload ?? call.workspace_payload);
      },
    })),
    combine: (results) => results.map((r) => r.data ?? null),
  });
  if (!answer || !found.some(Boolean)) return messages;
  const byCall = new Map(calls.map((c, i) => [c.call_id, found[i] ?? undefined]));
  const filled = { ...answer, tool_history: answer.tool_history.map((c) => ({ ...c, workspace_payload: byCall.get(c.call_id) ?? c.workspace_payload })) };
  return messages.map((m, i) => (i === at ? filled : m));
}
