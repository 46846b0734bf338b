import { create } from "zustand";
import { persist } from "zustand/middleware";

export interface Shortcut {
  /** a key as KeyboardEvent.key has it */
  key: string;
  label: string;
  group: string;
  run(): void;
}

interface Shortcuts {
  list: Shortcut[];
  /** single keys get in the way of some input methods, and can be turned off */
  on: boolean;
  setOn(on: boolean): void;
}

export const useShortcuts = create<Shortcuts>()(
  persist((set) => ({ list: [], on: true, setOn: (on) => set({ on }) }), { name: "fettle_shortcuts", partialize: ({ on }) => ({ on }) }),
);

/** registerShortcuts adds shortcuts until the function that it gives is called. A later one for the same key wins. */
export function registerShortcuts(shortcuts: Shortcut[]): () => void {
  useShortcuts.setState((s) => ({ list: [...s.list, ...shortcuts] }));
  return () => useShortcuts.setState((s) => ({ list: s.list.filter((each) => !shortcuts.includes(each)) }));
}

const typed = "input:not([type=checkbox], [type=radio], [type=button]), textarea, select, [contenteditable]:not([contenteditable=false]), [role=textbox], [role=combobox]";
// A dialog and a menu have keys of their own.
const taken = "[role=dialog], [role=menu], [role=listbox], [role=tree], [role=grid]";

/** handleShortcut runs the shortcut of a key, unless a person is typing or the key is somebody else's. */
export function handleShortcut(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.isComposing || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return false;
  const { list, on } = useShortcuts.getState();
  if (!on) return false;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest(typed)) return false;
  if (target?.closest(taken) || document.querySelector("[role=dialog]")) return false;
  const found = list.findLast((each) => each.key === event.key);
  if (!found) return false;
  event.preventDefault();
  found.run();
  return true;
}
