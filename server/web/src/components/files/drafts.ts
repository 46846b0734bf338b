import { create } from "zustand";
import { createJSONStorage, persist } from "zustand/middleware";

/** Draft is a file's text that is not saved yet, and the digest of what it was made of. */
export interface Draft {
  text: string;
  was: string;
}

interface Drafts {
  drafts: Record<string, Draft>;
  keep(chatId: string, path: string, draft: Draft | null): void;
}

// What is larger is kept while the page is open, and not over a reload.
const maxStored = 300_000;

export function draftKey(chatId: string, path: string): string {
  return `${chatId}/${path}`;
}

/** useDrafts keeps what isn't saved when its view goes, and for this tab over a reload. */
export const useDrafts = create<Drafts>()(
  persist(
    (set) => ({
      drafts: {},
      keep: (chatId, path, draft) =>
        set((s) => {
          const drafts = { ...s.drafts };
          if (draft) drafts[draftKey(chatId, path)] = draft;
          else delete drafts[draftKey(chatId, path)];
          return { drafts };
        }),
    }),
    {
      name: "fettle_drafts",
      storage: createJSONStorage(() => sessionStorage),
      partialize: ({ drafts }) => ({
        drafts: Object.fromEntries(Object.entries(drafts).filter(([, d]) => d.text.length <= maxStored)),
      }),
    },
  ),
);

/** rebase says that what is written in a draft was made of what is saved now. */
export function rebase(chatId: string, path: string, sha256: string) {
  const { drafts, keep } = useDrafts.getState();
  const draft = drafts[draftKey(chatId, path)];
  if (draft) keep(chatId, path, { text: draft.text, was: sha256 });
}

/** drop forgets a draft that is saved. What was typed while it was, stays. */
export function drop(chatId: string, path: string, saved: string) {
  const { drafts, keep } = useDrafts.getState();
  if (drafts[draftKey(chatId, path)]?.text === saved) keep(chatId, path, null);
}

// The browser asks before the page goes while something isn't saved, whatever is shown then.
const ask = (event: BeforeUnloadEvent) => event.preventDefault();
function watch({ drafts }: Drafts) {
  if (Object.keys(drafts).length > 0) window.addEventListener("beforeunload", ask);
  else window.removeEventListener("beforeunload", ask);
}
watch(useDrafts.getState());
useDrafts.subscribe(watch);
