import { create } from "zustand";
import type { ImportPlan } from "./consent";
import { sendBundle, type Bundle } from "./upload";

/** Importing is where the import of one bundle is. */
export type Importing =
  | { step: "sending"; file: Bundle; part: number }
  | { step: "consent"; file: Bundle; plan: ImportPlan }
  | { step: "installing"; file: Bundle; plan: ImportPlan; part: number }
  | { step: "done"; file: Bundle; plan: ImportPlan }
  | { step: "refused"; file: Bundle; error: unknown };

interface Imports {
  now: Importing | null;
  /** bundles that came together wait for their turn: each is asked for by itself */
  waiting: Bundle[];
  begin(files: Bundle[]): void;
  approve(): Promise<boolean>;
  /** leave ends this import, and begins the next */
  leave(): void;
}

let stop = new AbortController();

/** installedKeys are the queries whose answers change when a toolset is installed, changed or removed. */
export const installedKeys = ["toolsets", "tools", "agents", "workflows", "servers", "payload-types", "page"];

export const useImports = create<Imports>()((set, get) => {
  async function look(file: Bundle) {
    stop = new AbortController();
    const { signal } = stop;
    set({ now: { step: "sending", file, part: 0 } });
    try {
      const plan = await sendBundle(file, "", (part) => !signal.aborted && set({ now: { step: "sending", file, part } }), signal);
      // What is installed already with these contents asks for nothing.
      set({ now: plan.installed ? { step: "done", file, plan } : { step: "consent", file, plan } });
    } catch (error) {
      if (!signal.aborted) set({ now: { step: "refused", file, error } });
    }
  }
  return {
    now: null,
    waiting: [],
    begin: (files) => {
      const [first, ...rest] = files;
      if (!first) return;
      if (get().now) set({ waiting: [...get().waiting, ...files] });
      else {
        set({ waiting: rest });
        void look(first);
      }
    },
    approve: async () => {
      const { now } = get();
      if (now?.step !== "consent") return false;
      const { file, plan } = now;
      stop = new AbortController();
      const { signal } = stop;
      set({ now: { step: "installing", file, plan, part: 0 } });
      try {
        const installed = await sendBundle(file, plan.approve, (part) => !signal.aborted && set({ now: { step: "installing", file, plan, part } }), signal);
        set({ now: { step: "done", file, plan: installed } });
        return true;
      } catch (error) {
        if (!signal.aborted) set({ now: { step: "refused", file, error } });
        return false;
      }
    },
    leave: () => {
      stop.abort();
      const [next, ...rest] = get().waiting;
      set({ now: null, waiting: rest });
      if (next) void look(next);
    },
  };
});
