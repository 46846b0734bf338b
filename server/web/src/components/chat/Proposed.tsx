import { Button } from "@/components/ui/Button";
import { cn } from "@/lib/cn";
import type { ApprovalArgument } from "@/types/chat";

// How much of an argument is shown before a person asks for all of it.
const maxLines = 20;
const maxChars = 2000;

// What a tool is known for comes first; the rest follows in its own order.
const looks: Record<string, { label?: string; className?: string }> = {
  command: {},
  path: {},
  old_text: { label: "Removed", className: "bg-removed" },
  new_text: { label: "Added", className: "bg-added" },
  content: { label: "Content", className: "bg-added" },
};
const known = Object.keys(looks);

/** isCut tells whether the short form of a call leaves a part of it out. */
export function isCut(args: ApprovalArgument[]): boolean {
  return args.some((arg) => begin(arg.text) !== arg.text);
}

function begin(text: string): string {
  const lines = text.split("\n", maxLines + 1);
  const head = lines.length > maxLines ? lines.slice(0, maxLines).join("\n") : text;
  return head.length > maxChars ? Array.from(head.slice(0, maxChars + 1)).slice(0, -1).join("") : head;
}

/** Proposed is what would run, as the server has made it visible: the beginning of each argument, or the whole. */
export function Proposed({ args, whole, onWhole }: { args: ApprovalArgument[]; whole: boolean; onWhole(): void }) {
  const first = args.filter((arg) => known.includes(arg.name)).sort((a, b) => known.indexOf(a.name) - known.indexOf(b.name));
  const rest = args.filter((arg) => !known.includes(arg.name));
  if (args.length === 0) return <p className="border-t border-border px-3 py-2 text-muted">No arguments.</p>;
  return (
    <>
      {first.map((arg, i) => (
        <Part key={`${i} ${arg.name}`} label={looks[arg.name]?.label} arg={arg} whole={whole} className={looks[arg.name]?.className} />
      ))}
      {rest.map((arg, i) => (
        <Part key={`${i} ${arg.name}`} label={arg.name} head={arg.name} arg={arg} whole={whole} />
      ))}
      {!whole && isCut(args) && (
        <div className="flex flex-wrap items-center gap-2 border-t border-border px-3 py-2">
          <p className="min-w-0 flex-1 text-warn">Not all of it is shown. Look at the rest before you allow it.</p>
          <Button size="small" onClick={onWhole}>
            Show all of it
          </Button>
        </div>
      )}
    </>
  );
}

function Part({ arg, label, head, whole, className }: { arg: ApprovalArgument; label?: string; head?: string; whole: boolean; className?: string }) {
  const text = whole ? arg.text : begin(arg.text);
  const cut = text !== arg.text;
  return (
    // A scrolling box has to be reachable by keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre tabIndex={0} dir="auto" aria-label={label} className={cn("border-t border-border px-3 py-2 font-mono text-xs break-words whitespace-pre-wrap", whole && "max-h-80 overflow-auto", className)}>
      {head && `${head}: `}
      {head && text.includes("\n") && "\n"}
      {text}
      {cut && <span className="font-sans text-warn">{` … the beginning of ${arg.size}`}</span>}
    </pre>
  );
}
