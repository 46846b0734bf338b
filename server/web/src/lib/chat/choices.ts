import { create } from "zustand";
import { persist } from "zustand/middleware";
import type { TurnRequest } from "@/lib/api/generalChatApi";
import { draftOf, keepDraft } from "@/lib/storage";

/** Params are the parameters of a model; those left out are the configuration's, then the model's. */
export type Params = Pick<TurnRequest, "effort" | "temperature" | "max_tokens">;

/** What a person chose for the next questions; "" leaves it to fettle and to the chat. */
interface Choices {
  model: string;
  agent: string;
  params: Params;
  choose(choice: Partial<Pick<Choices, "model" | "agent" | "params">>): void;
}

export const useChoices = create<Choices>()(
  persist((set) => ({ model: "", agent: "", params: {}, choose: (choice) => set(choice) }), {
    name: "fettle_choices",
    partialize: ({ model, params }) => ({ model, params }),
  }),
);

/** useReturned holds what couldn't be sent, for the field of its chat. */
export const useReturned = create<{ chatId: string | null; text: string }>()(() => ({ chatId: null, text: "" }));

/** giveBack keeps a question that was refused as its chat's draft, before what was typed since. */
export function giveBack(chatId: string | null, text: string) {
  if (!text.trim()) return;
  keepDraft(chatId, joined(text, draftOf(chatId)));
  useReturned.setState({ chatId, text });
}

export function joined(first: string, second: string): string {
  return second.trim() && second !== first ? `${first}\n\n${second}` : first;
}

/** useEdits holds questions that are being edited, by message: a row that is scrolled away has no memory. */
export const useEdits = create<{ texts: Record<string, string>; fresh: string | null; write(id: string, text: string): void; begin(id: string, text: string): void; end(id: string): void }>()((set) => ({
  texts: {},
  fresh: null, // the one that was begun just now, and takes the focus
  begin: (id, text) => set((s) => ({ texts: { ...s.texts, [id]: text }, fresh: id })),
  write: (id, text) => set((s) => ({ texts: { ...s.texts, [id]: text }, fresh: null })),
  end: (id) => set((s) => ({ texts: Object.fromEntries(Object.entries(s.texts).filter(([other]) => other !== id)), fresh: null })),
}));

/** useComposer lets other parts of the page reach the field: with a text to put there, or null for the focus alone. */
export const useComposer = create<{ text: string | null; turn: number; at: number; put(text: string | null): void }>()((set) => ({
  text: null,
  turn: 0,
  at: -Infinity, // when it was asked for
  put: (text) => set((s) => ({ text, turn: s.turn + 1, at: performance.now() })),
}));
