import { useQueryClient } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { Empty, Failed, Skeleton } from "@/components/ui/States";
import { useChat } from "@/hooks/useGeneralChat";
import type { Chat } from "@/lib/api/client";
import { ApiFault } from "@/lib/api/fault";
import { deleteChat, renameChat } from "@/lib/chat/actions";
import { chatsOf, useConversations } from "@/lib/chat/conversations";
import { useUI } from "@/lib/ui";
import { ChatRow } from "./ChatRow";

const rowHeight = 52;

/** ChatList is the chats, newest first: arrows move, Enter opens, F2 renames, Delete deletes. */
export function ChatList() {
  const list = useConversations();
  const { chat, running } = useChat((s) => ({ chat: s.chat, running: s.turn !== null }));
  const chats = useMemo(() => {
    const all = chatsOf(list.data);
    // A chat is listed once it has an answer.
    return chat && running && !all.some((c) => c.id === chat.id) ? [chat, ...all] : all;
  }, [list.data, chat, running]);
  if (chats.length > 0) return <Rows chats={chats} more={list.hasNextPage && !list.isFetchingNextPage && !list.isPlaceholderData ? list.fetchNextPage : null} />;
  if (list.error instanceof ApiFault && list.error.status === 401) return null; // the chat panel tells what is missing
  if (list.isError) return <Failed error={list.error} what="The chats can't be listed" onRetry={() => void list.refetch()} />;
  if (list.isPending) return <Skeleton lines={8} />;
  return <Empty title="No chats yet">What you ask is kept here, and nowhere but on this machine.</Empty>;
}

function Rows({ chats, more }: { chats: Chat[]; more: (() => unknown) | null }) {
  const client = useQueryClient();
  const box = useRef<HTMLDivElement>(null);
  const open = useUI((s) => s.chat);
  const setChat = useChat((s) => s.setChat);
  const [focused, setFocused] = useState<string | null>(null);
  const [naming, setNaming] = useState<string | null>(null);
  // It is used here alone, in each drawing anew.
  // eslint-disable-next-line react-hooks/incompatible-library
  const virtual = useVirtualizer({
    count: chats.length, getScrollElement: () => box.current, estimateSize: () => rowHeight, overscan: 8, getItemKey: (i) => chats[i]?.id ?? i,
  });
  const items = virtual.getVirtualItems();
  const end = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && end >= chats.length - 10) more();
  }, [more, end, chats.length]);

  const active = chats.findIndex((c) => c.id === open || String(c.number) === open);
  const at = Math.max(0, chats.findIndex((c) => c.id === focused));
  const stop = focused && chats[at]?.id === focused ? focused : (chats[Math.max(0, active)]?.id ?? null); // the one that Tab reaches

  function go(to: number) {
    const chat = chats[Math.min(chats.length - 1, Math.max(0, to))];
    if (!chat) return;
    setFocused(chat.id);
    virtual.scrollToIndex(chats.indexOf(chat));
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-chat="${CSS.escape(chat.id)}"]`)?.focus());
  }
  async function remove(chat: Chat, i: number) {
    if ((await deleteChat(client, chat)) && chats.length > 1) go(i === chats.length - 1 ? i - 1 : i + 1);
  }
  function onKeyDown(e: KeyboardEvent, chat: Chat, i: number) {
    const keys: Record<string, () => void> = {
      ArrowDown: () => go(i + 1),
      ArrowUp: () => go(i - 1),
      Home: () => go(0),
      End: () => go(chats.length - 1),
      F2: () => setNaming(chat.id),
      Delete: () => void remove(chat, i),
    };
    const act = keys[e.key];
    if (!act || e.target !== e.currentTarget) return;
    e.preventDefault();
    act();
  }
  return (
    <div ref={box} className="scroll-y h-full">
      <ul aria-label="Chats" className="relative" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const chat = chats[item.index];
          if (!chat) return null;
          return (
            <li key={item.key} className="absolute inset-x-0 top-0" style={{ height: item.size, transform: `translateY(${item.start}px)` }}>
              <ChatRow
                chat={chat}
                active={item.index === active}
                tabbed={chat.id === stop}
                naming={naming === chat.id}
                onName={() => setNaming(chat.id)}
                onNamed={(title) => {
                  setNaming(null);
                  if (title !== null) void renameChat(client, chat, title).then((now) => now && setChat(now));
                  else go(item.index);
                }}
                onDelete={() => void remove(chat, item.index)}
                onFocus={() => setFocused(chat.id)}
                onKeyDown={(e) => onKeyDown(e, chat, item.index)}
              />
            </li>
          );
        })}
      </ul>
    </div>
  );
}
