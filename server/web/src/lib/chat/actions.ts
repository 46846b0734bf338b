import type { QueryClient } from "@tanstack/react-query";
import { tell, tellFault } from "@/components/ui/Toasts";
import { api, unwrap, type Chat } from "@/lib/api/client";
import { download } from "@/lib/download";
import { withoutMarkers } from "@/lib/markers";
import { forget } from "@/lib/storage";
import { useUI } from "@/lib/ui";
import { pageOfMessages } from "./api";
import { modeFields, type Mode } from "./chatMode";

function listed(client: QueryClient) {
  void client.invalidateQueries({ queryKey: ["chats"] });
  void client.invalidateQueries({ queryKey: ["deleted"] });
}

/** renameChat gives the chat as it is then, or null. */
export async function renameChat(client: QueryClient, chat: Chat, title: string): Promise<Chat | null> {
  try {
    const done = unwrap(await api.PATCH("/api/chats/{chat}", { params: { path: { chat: chat.id } }, body: { title } }));
    listed(client);
    return done.chat;
  } catch (error) {
    tellFault("The chat can't be renamed", error);
    return null;
  }
}

/** setMode gives the chat as it is then, or null. "off" leaves plan mode, and the mode before it holds. */
export async function setMode(client: QueryClient, chat: Chat, mode: Mode | "off"): Promise<Chat | null> {
  try {
    const body = mode === "off" ? { plan: false } : modeFields(mode);
    const done = unwrap(await api.PATCH("/api/chats/{chat}", { params: { path: { chat: chat.id } }, body }));
    listed(client);
    return done.chat;
  } catch (error) {
    tellFault("The mode can't be changed", error);
    return null;
  }
}

/** deleteChat deletes a chat, and says how it comes back. */
export async function deleteChat(client: QueryClient, chat: Chat): Promise<boolean> {
  try {
    await api.DELETE("/api/chats/{chat}", { params: { path: { chat: chat.id } } });
  } catch (error) {
    tellFault("The chat can't be deleted", error);
    return false;
  }
  forget(chat.id);
  listed(client);
  const { chat: open, openChat } = useUI.getState();
  const shown = open === chat.id || open === String(chat.number);
  if (shown) openChat(null);
  tell(`Deleted “${chat.title}”.`, { label: "Undo", run: () => void restoreChat(client, chat, shown) });
  return true;
}

export async function restoreChat(client: QueryClient, chat: Chat, open: boolean): Promise<boolean> {
  try {
    // A deleted chat is named by its number.
    const done = unwrap(await api.POST("/api/chats/{chat}/restore", { params: { path: { chat: String(chat.number) } } }));
    if (open) useUI.getState().openChat(done.chat.id);
    listed(client);
    return true;
  } catch (error) {
    tellFault("The chat can't be brought back", error);
    return false;
  }
}

/** exportChat saves what was said in a chat as a Markdown file. */
export async function exportChat(chat: Chat) {
  try {
    const parts: string[] = [];
    for (let before: string | undefined; ; ) {
      const page = await pageOfMessages(chat.id, { limit: 500, before });
      parts.unshift(...page.messages.map((m) => `## ${m.role === "user" ? "You" : "Answer"}\n\n${withoutMarkers(m.content)}`));
      before = page.before;
      if (!before) break;
    }
    download(`chat-${chat.number}.md`, `# ${chat.title}\n\n${parts.join("\n\n")}\n`, "text/markdown");
  } catch (error) {
    tellFault("The chat can't be saved", error);
  }
}

/** fork begins a chat that has everything up to a message, and opens it. */
export async function fork(chatId: string, messageId?: string) {
  try {
    const { chat } = unwrap(await api.POST("/api/chats/{chat}/fork", { params: { path: { chat: chatId } }, body: messageId ? { message_id: messageId } : {} }));
    useUI.getState().openChat(chat.id);
    tell("This chat goes on from there, and the other one is as it was.");
  } catch (error) {
    tellFault("The chat can't be forked", error);
  }
}
