import { useInfiniteQuery, type InfiniteData } from "@tanstack/react-query";
import { api, unwrap, type Chat, type Schemas } from "@/lib/api/client";
import { isQuestion, loadSessions, saveSessions } from "@/lib/storage";

type Page = Schemas["chats"];

/** cachedChats is the list as it was seen last, so that the page opens with it. */
function cachedChats(): InfiniteData<Page, string> | undefined {
  const sessions = loadSessions();
  if (sessions.length === 0) return undefined;
  const chats = sessions.map((s): Chat => ({
    id: s.id, title: s.preview, created_at: s.createdAt, updated_at: s.createdAt, number: 0, model: "", messages: s.messages.length, last_turn: 0, active_leaf_message_id: "",
  }));
  return { pages: [{ chats }], pageParams: [""] };
}

/** keepChats puts the first page into the cache, and keeps the messages that are there. */
export function keepChats(chats: Chat[]) {
  const known = loadSessions();
  const messages = new Map(known.map((s) => [s.id, s.messages]));
  // A chat whose first answer is being made isn't listed yet.
  const begun = known.filter((s) => !chats.some((c) => c.id === s.id) && s.messages.some((m) => isQuestion(m.id)));
  saveSessions([...begun, ...chats.map((c) => ({ id: c.id, createdAt: c.updated_at, preview: c.title, messages: messages.get(c.id) ?? [] }))]);
}

/** useConversations is the list of chats, newest first, a page at a time. */
export function useConversations() {
  return useInfiniteQuery({
    queryKey: ["chats"],
    initialPageParam: "",
    queryFn: async ({ pageParam, signal }) => {
      const page = unwrap(await api.GET("/api/chats", { params: { query: pageParam ? { after: pageParam } : {} }, signal }));
      if (!pageParam) keepChats(page.chats);
      return page;
    },
    getNextPageParam: (last) => last.next || undefined,
    placeholderData: cachedChats,
    // Other programs ask in chats, too; those of this browser tell each other.
    refetchInterval: 20_000,
  });
}

/** isBehind is whether a chat went on, or goes on, without this page having seen it. */
export function isBehind(shown: Pick<Chat, "id" | "updated_at" | "messages"> | null, listed: (Chat & { turn_id?: string })[]): boolean {
  const now = listed.find((c) => c.id === shown?.id);
  return shown !== null && now !== undefined && (Boolean(now.turn_id) || now.updated_at !== shown.updated_at || now.messages !== shown.messages);
}

/** chatsOf is the list of all pages, each chat once: one that moved up stands in two. */
export function chatsOf(data: InfiniteData<Page> | undefined): Chat[] {
  const seen = new Set<string>();
  return (data?.pages ?? []).flatMap((p) => p.chats).filter((c) => !seen.has(c.id) && seen.add(c.id));
}
