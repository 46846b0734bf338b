import { useQuery } from "@tanstack/react-query";
import { useChat } from "@/hooks/useGeneralChat";
import { api, unwrap, type Schemas } from "@/lib/api/client";

/** CutCall is a call that was cut off before what it wrote was applied to the folder. */
export type CutCall = Schemas["cutCall"];

/** useCutCalls lists a chat's calls that were cut off. What shows them is loaded only if there is one. */
export function useCutCalls(chatId: string | null): CutCall[] {
  const runs = useChat((s) => s.turn !== null);
  const { data } = useQuery({
    queryKey: ["workspace", chatId, "cut"],
    queryFn: async ({ signal }) => unwrap(await api.GET("/api/chats/{chat}/workspace/cut-calls", { params: { path: { chat: chatId ?? "" } }, signal })).calls,
    enabled: chatId !== null && !runs, // a turn that runs holds the chat; the list is read when it has ended
  });
  return data ?? [];
}
