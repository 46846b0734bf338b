import { create } from "zustand";
import type { TurnRequest } from "@/lib/api/generalChatApi";
import { record } from "@/lib/record";

/** ChatTools is what the user chose for one chat: tools are the ids that the model is offered, all of them where they are left out. */
export type ChatTools = Pick<TurnRequest, "tools" | "agent_mode">;

const key = "fettle_chat_tools";
const maxChats = 100; // the oldest choices are dropped

const nameOf = (chatId: string | null | undefined) => chatId ?? "new";

/** useChatTools holds the choice of each chat, the last changed at the end. */
export const useChatTools = create<{ of: Record<string, ChatTools> }>()(() => ({ of: {} }));

export function chatToolsOf(chatId: string | null | undefined): ChatTools {
  return useChatTools.getState().of[nameOf(chatId)] ?? {};
}

/** chooseTools changes the choice of a chat; one that chooses nothing is dropped. */
export function chooseTools(chatId: string | null | undefined, choice: ChatTools) {
  const name = nameOf(chatId);
  const chosen: ChatTools = { ...(choice.tools ? { tools: choice.tools } : {}), ...(choice.agent_mode === undefined ? {} : { agent_mode: choice.agent_mode }) };
  useChatTools.setState(({ of }) => {
    const rest = Object.entries(of).filter(([other]) => other !== name);
    return { of: Object.fromEntries([...rest.slice(-maxChats), ...(Object.keys(chosen).length > 0 ? [[name, chosen] as const] : [])]) };
  });
}

/** moveTools gives the choice for a new chat to the chat that was made of it. */
export function moveTools(chatId: string) {
  const chosen = chatToolsOf(null);
  if (Object.keys(chosen).length === 0) return;
  chooseTools(null, {});
  chooseTools(chatId, chosen);
}

/** keepTools keeps the choices in the browser. A chat in a page of others calls it not: its storage is theirs. */
export function keepTools() {
  try {
    const stored = record(JSON.parse(localStorage.getItem(key) ?? "{}"));
    for (const [name, value] of Object.entries(stored)) {
      const { tools, agent_mode } = record(value);
      const ids = Array.isArray(tools) && tools.every((id) => typeof id === "string") ? tools : undefined;
      chooseTools(name, { tools: ids, agent_mode: typeof agent_mode === "boolean" ? agent_mode : undefined });
    }
  } catch {
    // What can't be read is as if nothing had been chosen.
  }
  useChatTools.subscribe(({ of }) => {
    try {
      localStorage.setItem(key, JSON.stringify(of));
    } catch {
      // Full, or forbidden: the choice lasts as long as the page.
    }
  });
}
