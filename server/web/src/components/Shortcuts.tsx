import { useEffect } from "react";
import { Dialog } from "@/components/ui/Dialog";
import { Switch } from "@/components/ui/Switch";
import { handleShortcut, registerShortcuts, useShortcuts, type Shortcut } from "@/lib/shortcuts";
import { useComposer } from "@/lib/chat/choices";
import { useUI } from "@/lib/ui";

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

const fixed: { keys: string[]; label: string }[] = [
  { keys: ["Enter"], label: "Send" },
  { keys: ["Shift", "Enter"], label: "A new line" },
  { keys: ["Escape"], label: "Close what is on top" },
  { keys: ["Tab"], label: "To the next control; arrows move within tabs, menus and lists" },
];

/** Shortcuts hears the keys of the page, and lists them. */
export function Shortcuts() {
  const { shortcuts: open, setShortcuts } = useUI();
  const { list, on, setOn } = useShortcuts();
  useEffect(() => registerShortcuts(own), []);
  useEffect(() => {
    window.addEventListener("keydown", handleShortcut);
    return () => window.removeEventListener("keydown", handleShortcut);
  }, []);
  const groups = [...new Set(list.map((s) => s.group))];
  return (
    <Dialog
      open={open}
      onOpenChange={setShortcuts}
      title="Shortcuts"
      footer={
        <div className="mr-auto flex items-center gap-3 text-[13px]">
          <Switch label="Single keys act" checked={on} onChange={setOn} />
          Single keys act, except where you type
        </div>
      }
    >
      <div className="flex flex-col gap-4 text-[13px]">
        {groups.map((group) => (
          <Group key={group} title={group} rows={list.filter((s) => s.group === group).map((s) => ({ keys: [s.key], label: s.label }))} />
        ))}
        <Group title="Always" rows={fixed} />
      </div>
    </Dialog>
  );
}

function Group({ title, rows }: { title: string; rows: { keys: string[]; label: string }[] }) {
  return (
    <section>
      <h3 className="mb-1 font-semibold">{title}</h3>
      <dl>
        {rows.map((row) => (
          <div key={row.label} className="flex items-center gap-3 py-1">
            <dt className="order-2 flex shrink-0 gap-1">
              {row.keys.map((key) => (
                <kbd key={key} className="min-w-6 rounded border border-border bg-bg px-1.5 text-center font-mono">
                  {key}
                </kbd>
              ))}
            </dt>
            <dd className="min-w-0 flex-1 text-muted">{row.label}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
