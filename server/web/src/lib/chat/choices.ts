import { create } from "zustand";
import { persist } from "zustand/middleware";

/** What a person chose for the next questions; "" leaves it to fettle and to the chat. */
interface Choices {
  model: string;
  agent: string;
  think: boolean | null;
  choose(choice: Partial<Pick<Choices, "model" | "agent" | "think">>): void;
}

export const useChoices = create<Choices>()(
  persist((set) => ({ model: "", agent: "", think: null, choose: (choice) => set(choice) }), {
    name: "fettle_choices",
    partialize: ({ model, think }) => ({ model, think }),
  }),
);

/** useComposer lets other parts of the page reach the field: with a text to put there, or null for the focus alone. */
export const useComposer = create<{ text: string | null; turn: number; put(text: string | null): void }>()((set) => ({
  text: null,
  turn: 0,
  put: (text) => set((s) => ({ text, turn: s.turn + 1 })),
}));
