import { useQueryClient, type InfiniteData } from "@tanstack/react-query";
import { createContext, use, useCallback, useEffect, useMemo, useState, type ReactNode } from "react";
import { useStore } from "zustand";
import { useShallow } from "zustand/shallow";
import { api, unwrap, type Schemas } from "@/lib/api/client";
import { chatsOf, isBehind, useConversations } from "@/lib/chat/conversations";
import { heedWindows } from "@/lib/chat/windows";
import { createChatStore, type ChatStore } from "@/lib/chat/store";
import type { ChatActions, ChatState, SendOptions } from "@/lib/chat/state";
import { forget } from "@/lib/storage";
import { textOf, type LiveTurn } from "@/lib/turn";
import { useUI } from "@/lib/ui";
import type { ActionMetadata, ActiveToolProgress, Approval, ChatFault, Conversation, GeneralChatMessage, InteractionType } from "@/types/chat";

export type { LiveTurn } from "@/lib/turn";
export type { SendOptions } from "@/lib/chat/state";

/** GeneralChat is document 000's state and actions; what fettle adds is marked. */
export interface GeneralChat {
  messages: GeneralChatMessage[];
  context: Record<string, unknown>;
  isLoading: boolean;
  error: string | null;
  streamingText: string;
  statusText: string | null;
  activeToolProgress: ActiveToolProgress | null;

  conversationId: number | null;
  conversations: Conversation[];
  isLoadingConversation: boolean;
  isLoadingConversations: boolean;

  sendMessage(content: string, type?: InteractionType, metadata?: ActionMetadata, extra?: SendOptions): void;
  cancelRequest(): void;
  updateContext(updates: Record<string, unknown>): void;
  reset(): void;

  newConversation(): Promise<number>;
  loadConversation(id: number): Promise<void>;
  deleteConversation(id: number): Promise<void>;
  refreshConversations(): Promise<void>;

  // Added.
  chatId: string | null; // the chat's id; conversationId is its number
  turn: LiveTurn | null; // the answer that is being made
  broken: boolean; // the network is lost, and tried again
  lastError: ChatFault | null;
  editMessage(messageId: string, content: string): void;
  retryMessage(messageId: string): void;
  switchTo(messageId: string): Promise<void>;
  confirm(approval: Approval, decision: "allow" | "deny", reason?: string): Promise<void>;
}

const StoreContext = createContext<ChatStore | null>(null);

export function useChatStore(): ChatStore {
  const store = use(StoreContext);
  if (!store) throw new Error("the chat stands outside of its provider");
  return store;
}

/** useChat is a part of the chat: what it gives is compared one level deep, so that a stream draws only those anew who show it. */
export function useChat<T>(select: (chat: ChatState & ChatActions) => T): T {
  return useStore(useChatStore(), useShallow(select));
}

export function ChatProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [store] = useState(() => createChatStore(client, (chat) => useUI.getState().openChat(chat)));
  const chat = useUI((s) => s.chat);
  useEffect(() => {
    void store.getState().open(chat);
  }, [store, chat]);
  useEffect(() => {
    // Another tab or program may have gone on with the chat.
    const look = () => {
      if (document.visibilityState === "visible") void store.getState().reload();
    };
    document.addEventListener("visibilitychange", look);
    const stop = client.getQueryCache().subscribe((e) => {
      const [what, id] = e.query.queryKey;
      if (e.type === "updated" && e.action.type === "success" && what === "chats" && isBehind(store.getState().chat, chatsOf(e.query.state.data as InfiniteData<Schemas["chats"]> | undefined))) look();
      if (e.type === "updated" && e.action.type === "invalidate" && what === "messages" && id === store.getState().chatId) look();
    });
    const deaf = heedWindows(client);
    return () => {
      deaf();
      document.removeEventListener("visibilitychange", look);
      stop();
    };
  }, [client, store]);
  return <StoreContext value={store}>{children}</StoreContext>;
}

/** useGeneralChat is the chat of this page, whole. It changes with each frame of a stream: useChat gives a part. */
export function useGeneralChat(): GeneralChat {
  const store = useChatStore();
  const state = useStore(store);
  const list = useConversations();
  const { refetch } = list;
  const conversations = useMemo(() => chatsOf(list.data), [list.data]);
  const { turn } = state;

  const newConversation = useCallback(async () => {
    const { chat } = unwrap(await api.POST("/api/chats", { body: {} }));
    useUI.getState().openChat(chat.id);
    void refetch();
    return chat.number;
  }, [refetch]);
  const loadConversation = useCallback(async (id: number) => {
    useUI.getState().openChat(String(id));
    await store.getState().open(String(id));
  }, [store]);
  const deleteConversation = useCallback(async (id: number) => {
    await api.DELETE("/api/chats/{chat}", { params: { path: { chat: String(id) } } });
    const open = store.getState().chat;
    if (open?.number === id) {
      forget(open.id);
      useUI.getState().openChat(null);
    }
    void refetch();
  }, [refetch, store]);
  const refreshConversations = useCallback(async () => void (await refetch()), [refetch]);

  return {
    messages: state.messages,
    context: state.context,
    isLoading: state.starting || turn !== null,
    error: state.fault?.message ?? null,
    streamingText: turn ? textOf(turn) : "",
    statusText: turn?.status ?? null,
    activeToolProgress: turn ? (Object.values(turn.progress).at(-1) ?? null) : null,
    conversationId: state.chat?.number ?? null,
    conversations,
    isLoadingConversation: state.loading,
    isLoadingConversations: list.isPending || list.isPlaceholderData,
    sendMessage: (...args) => void state.send(...args),
    cancelRequest: state.cancel,
    updateContext: state.updateContext,
    reset: () => useUI.getState().openChat(null),
    newConversation,
    loadConversation,
    deleteConversation,
    refreshConversations,
    chatId: state.chatId,
    turn,
    broken: state.broken,
    lastError: state.fault,
    editMessage: (id, content) => void state.edit(id, content),
    retryMessage: (id) => void state.retry(id),
    switchTo: state.switchTo,
    confirm: state.confirm,
  };
}
