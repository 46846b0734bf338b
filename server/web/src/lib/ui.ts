import { create } from "zustand";
import { persist } from "zustand/middleware";
import type { WorkspacePayload } from "@/types/chat";

// What the page shows, and nothing that a server knows. The part that a person
// chose is kept in localStorage.

export type Theme = "system" | "dark" | "light";
export type PanelName = "sidebar" | "chat" | "workspace" | "context";

/** Selection is what the workspace panel shows, if a person chose something. */
export type Selection =
  | { kind: "call"; callId: string } // a tool call, rendered
  | { kind: "history"; messageId: string } // the calls of an answer
  | { kind: "payload"; payload: WorkspacePayload; chatId: string; payloadId?: string }
  | { kind: "workflow"; instanceId: string }
  | { kind: "file"; path: string; manifestId?: string } // in the file browser
  | { kind: "files" } // the file browser
  | { kind: "timeline" };

export type ContextTab = "tools" | "agents" | "assets" | "settings";

interface UI {
  theme: Theme;
  sidebar: boolean;
  workspace: boolean;
  context: boolean;
  contextTab: ContextTab;
  /** the panel that a narrow window shows */
  narrow: PanelName;
  /** the id or number of the chat that is shown; null is a new one */
  chat: string | null;
  /** null: the workspace panel follows the answer */
  selection: Selection | null;
  /** the selection stays when another answer begins */
  kept: boolean;
  /** the width in pixels that the shown result would have of the workspace panel */
  panelWish: number | null;
  shortcuts: boolean;
  toolsets: boolean;
  setTheme(theme: Theme): void;
  toggle(panel: "sidebar" | "workspace" | "context"): void;
  show(panel: PanelName): void;
  openContext(tab: ContextTab): void;
  openChat(chat: string | null): void;
  select(selection: Selection | null): void;
  /** keep selects something for longer than until the next answer */
  keep(selection: Selection): void;
  /** followAnswer lets the panel follow an answer that begins, unless what it shows is kept */
  followAnswer(): void;
  setShortcuts(open: boolean): void;
  setToolsets(open: boolean): void;
}

const chatPath = /^\/c\/([\w-]+)$/;

function chatOfAddress(): string | null {
  return chatPath.exec(location.pathname)?.[1] ?? null;
}

export const useUI = create<UI>()(
  persist(
    (set, get) => ({
      theme: "system",
      sidebar: true,
      workspace: true,
      context: false,
      contextTab: "tools",
      narrow: "chat",
      chat: chatOfAddress(),
      selection: null,
      kept: false,
      panelWish: null,
      shortcuts: false,
      toolsets: false,
      setTheme: (theme) => set({ theme }),
      toggle: (panel) => set({ [panel]: !get()[panel] }),
      show: (panel) => set(panel === "chat" ? { narrow: panel } : { narrow: panel, [panel]: true }),
      openContext: (contextTab) => set({ contextTab, context: true, narrow: "context" }),
      openChat: (chat) => {
        const path = chat ? `/c/${chat}` : "/";
        if (location.pathname !== path) history.pushState(null, "", path);
        set({ chat, selection: null, kept: false, narrow: "chat" });
      },
      select: (selection) => set(selection ? { selection, kept: false, workspace: true, narrow: "workspace" } : { selection, kept: false }),
      keep: (selection) => {
        get().select(selection);
        set({ kept: true });
      },
      followAnswer: () => {
        const { selection, kept } = get();
        if (!kept && (selection?.kind === "payload" || selection?.kind === "call" || selection?.kind === "history")) set({ selection: null });
      },
      setShortcuts: (shortcuts) => set({ shortcuts }),
      setToolsets: (toolsets) => set({ toolsets }),
    }),
    {
      name: "fettle_page",
      partialize: ({ theme, sidebar, workspace, context, contextTab }) => ({ theme, sidebar, workspace, context, contextTab }),
    },
  ),
);

/** followAddress keeps the chat at the address when a person goes back or on. */
export function followAddress(): () => void {
  const apply = () => useUI.setState({ chat: chatOfAddress(), selection: null });
  window.addEventListener("popstate", apply);
  return () => window.removeEventListener("popstate", apply);
}
