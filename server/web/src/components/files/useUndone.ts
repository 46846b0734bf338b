import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";

/** undoneCalls tells, of the calls among the last states, which are undone. */
async function undoneCalls(chatId: string, signal: AbortSignal): Promise<Record<string, boolean>> {
  const { states } = unwrap(await api.GET("/api/chats/{chat}/workspace/states", { params: { path: { chat: chatId }, query: { limit: 100, all: true } }, signal }));
  const calls = states.filter((s) => s.source === "tool_run");
  return Object.fromEntries(calls.map((s) => [s.source_ref ?? "", s.undone === true || s.reverted === true]));
}

/**
 * useUndone tells whether a call that changed files is undone. An older one than the last
 * states is what it was when the chat's messages were read.
 */
export function useUndone(chatId: string | null, callId: string | undefined, changed: boolean, was = false): boolean {
  const found = useQuery({
    // It begins as the keys of the workspace's views, which the chat invalidates.
    queryKey: ["workspace", chatId, "undone"],
    queryFn: ({ signal }) => undoneCalls(chatId ?? "", signal),
    enabled: chatId !== null && callId !== undefined && changed,
  });
  return found.data?.[callId ?? ""] ?? was;
}
