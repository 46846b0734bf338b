import { Dialog } from "@/components/ui/Dialog";
import { Switch } from "@/components/ui/Switch";
import { useShortcuts } from "@/lib/shortcuts";
import { useUI } from "@/lib/ui";

const fixed: { keys: string[]; label: string }[] = [
  { keys: ["Enter"], label: "Send" },
  { keys: ["Shift", "Enter"], label: "A new line" },
  { keys: ["Escape"], label: "Close what is on top" },
  { keys: ["Tab"], label: "To the next control; arrows move within tabs, menus and lists" },
];

/** ShortcutList is the list of keys, and the switch for those that are letters alone. */
export default function ShortcutList() {
  const { shortcuts: open, setShortcuts } = useUI();
  const { list, on, setOn } = useShortcuts();
  const groups = [...new Set(list.map((s) => s.group))];
  return (
    <Dialog
      open={open}
      onOpenChange={setShortcuts}
      title="Shortcuts"
      reading
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
