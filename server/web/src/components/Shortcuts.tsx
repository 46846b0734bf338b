import { lazy, Suspense, useEffect } from "react";
import { handleShortcut, registerShortcuts, type Shortcut } from "@/lib/shortcuts";
import { useComposer } from "@/lib/chat/choices";
import { useUI } from "@/lib/ui";

// The first load is without what dialogs are made of.
const ShortcutList = lazy(() => import("./ShortcutList"));

/** soon waits for what a change of state draws. */
function soon(focus: () => void) {
  requestAnimationFrame(() => requestAnimationFrame(focus));
}

function focusSearch() {
  const { sidebar, toggle, show } = useUI.getState();
  if (!sidebar) toggle("sidebar");
  show("sidebar");
  soon(() => document.querySelector<HTMLElement>('nav[aria-label="Chats"] input, main[aria-label="Chats"] input')?.focus());
}

function focusComposer() {
  useUI.getState().show("chat");
  useComposer.getState().put(null);
}

const ui = () => useUI.getState();

const own: Shortcut[] = [
  { key: "n", label: "New chat", group: "Chats", run: () => (ui().openChat(null), focusComposer()) },
  { key: "/", label: "Search chats", group: "Chats", run: focusSearch },
  { key: "c", label: "Write a message", group: "Chats", run: focusComposer },
  { key: "[", label: "Show or hide the chats", group: "Panels", run: () => ui().toggle("sidebar") },
  { key: "]", label: "Show or hide the workspace", group: "Panels", run: () => ui().toggle("workspace") },
  { key: ".", label: "Show or hide tools and settings", group: "Panels", run: () => ui().toggle("context") },
  { key: "f", label: "Files of the workspace", group: "Workspace", run: () => ui().select({ kind: "files" }) },
  { key: "h", label: "Timeline of the workspace", group: "Workspace", run: () => ui().select({ kind: "timeline" }) },
  { key: "t", label: "Toolsets", group: "Manage", run: () => ui().setToolsets(true) },
  { key: ",", label: "Settings", group: "Manage", run: () => ui().openContext("settings") },
  { key: "?", label: "This list", group: "Manage", run: () => ui().setShortcuts(true) },
];

/** Shortcuts hears the keys of the page, and lists them. */
export function Shortcuts() {
  const open = useUI((s) => s.shortcuts);
  useEffect(() => registerShortcuts(own), []);
  useEffect(() => {
    window.addEventListener("keydown", handleShortcut);
    return () => window.removeEventListener("keydown", handleShortcut);
  }, []);
  return <Suspense fallback={null}>{open && <ShortcutList />}</Suspense>;
}
