import { useQuery } from "@tanstack/react-query";
import { useChat } from "@/hooks/useGeneralChat";
import { api, unwrap } from "@/lib/api/client";

/** undoneCalls returns which of the calls among the last states are undone. */
async function undoneCalls(chatId: string, signal: AbortSignal): Promise<Record<string, boolean>> {
  const { states } = unwrap(await api.GET("/api/chats/{chat}/workspace/states", { params: { path: { chat: chatId }, query: { limit: 100, all: true } }, signal }));
  const calls = states.filter((s) => s.source === "tool_run");
  return Object.fromEntries(calls.map((s) => [s.source_ref ?? "", s.undone === true || s.reverted === true]));
}

/**
 * useUndone reports whether a call that changed files is undone. For a call that is older than
 * the last states it returns what the chat's messages had. It asks when no turn runs: the
 * states of a first turn can't be read before its end.
 */
export function useUndone(chatId: string | null, callId: string | undefined, changed: boolean, was = false): boolean {
  const idle = useChat((s) => s.turn === null);
  const found = useQuery({
    // It begins as the keys of the workspace's views, which the chat invalidates.
    queryKey: ["workspace", chatId, "undone"],
    queryFn: ({ signal }) => undoneCalls(chatId ?? "", signal),
    enabled: chatId !== null && callId !== undefined && changed && idle,
  });
  return found.data?.[callId ?? ""] ?? was;
}
