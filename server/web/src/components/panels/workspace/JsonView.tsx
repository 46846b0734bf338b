import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/Button";
import { cn } from "@/lib/cn";
import { cut } from "@/lib/workspace/read";

const step = 100;

/** JsonView is any value as a tree that opens; what is closed costs nothing. */
export function JsonView({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }) {
  const [open, setOpen] = useState(depth < 2);
  const [shown, setShown] = useState(step);
  if (typeof value !== "object" || value === null) {
    return (
      <div className="py-0.5 pl-5 font-mono text-[13px] break-words">
        {name !== undefined && <span className="text-muted">{cut(name, 200)}: </span>}
        <Scalar value={value} />
      </div>
    );
  }
  const entries: [string, unknown][] = Array.isArray(value) ? value.slice(0, shown).map((v, i) => [String(i), v]) : Object.entries(value).slice(0, shown);
  const size = Array.isArray(value) ? value.length : Object.keys(value).length;
  const what = Array.isArray(value) ? `${size} ${size === 1 ? "entry" : "entries"}` : `${size} ${size === 1 ? "field" : "fields"}`;
  return (
    <div className="font-mono text-[13px]">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="flex max-w-full items-center gap-1 rounded py-0.5 pr-1 text-left hover:bg-raised">
        <ChevronRight aria-hidden="true" className={cn("size-4 shrink-0 text-muted transition-transform", open && "rotate-90")} />
        {name !== undefined && <span className="truncate">{cut(name, 200)}</span>}
        <span className="shrink-0 text-muted">{what}</span>
      </button>
      {open && (
        <div className="ml-2 border-l border-border pl-2">
          {entries.map(([key, v]) => (
            <JsonView key={key} name={key} value={v} depth={depth + 1} />
          ))}
          {size > shown && (
            <Button size="small" className="my-1 font-sans" onClick={() => setShown(shown + step * 5)}>
              Show more of {size.toLocaleString()}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

function Scalar({ value }: { value: unknown }) {
  if (typeof value === "string") return <span dir="auto">{value === "" ? <i className="text-muted">empty</i> : cut(value, 2_000)}</span>;
  return <span className="text-accent-ink">{String(value)}</span>;
}
