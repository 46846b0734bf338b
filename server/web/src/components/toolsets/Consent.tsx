import { ShieldAlert } from "lucide-react";
import { useState } from "react";
import { byteText } from "@/components/context/bytes";
import { Button } from "@/components/ui/Button";
import { Dialog } from "@/components/ui/Dialog";
import { cn } from "@/lib/cn";
import { consentOf, type ConsentGroup, type ConsentLine, type ImportPlan } from "./consent";
import { Problems } from "./Refused";

/** Consent shows all that a bundle brings and wants before anything is installed. */
export function Consent({ file, plan, onApprove, onLeave }: { file: { name: string }; plan: ImportPlan; onApprove(): void; onLeave(): void }) {
  const groups = consentOf(plan);
  const [read, setRead] = useState(false);
  const reaches = groups.some((g) => g.danger);
  const size = plan.files.reduce((sum, f) => sum + f.size, 0);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onLeave()}
      title={`${plan.name} ${plan.version}`}
      about={
        <>
          <span className="font-mono">{plan.id}</span> from {file.name}, <span className="font-mono">{plan.approve.slice(0, 4)}…{plan.approve.slice(-4)}</span>
          {plan.replaces && `. It replaces version ${plan.replaces}.`}
        </>
      }
      wide
      footer={
        <>
          {reaches && (
            <label className="mr-auto flex min-h-6 cursor-pointer items-center gap-2 text-[13px]">
              <input type="checkbox" checked={read} onChange={(e) => setRead(e.target.checked)} className="size-4 accent-accent" />
              I have read what it starts and reaches
            </label>
          )}
          <Button onClick={onLeave}>Don’t install</Button>
          <Button look="accent" disabled={reaches && !read} onClick={onApprove}>
            Approve and install
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4 text-[13px]">
        {plan.warnings && plan.warnings.length > 0 && <Problems lines={plan.warnings.map((w) => (/: (error|warning): /.test(w) ? w : w.replace(/^(\S+?:\d+(?::\d+)?): /, "$1: warning: ")))} />}
        {!reaches && <p className="text-muted">Nothing in it reaches beyond the chat’s workspace: it starts no program and connects to no network.</p>}
        {groups.map((group) => (
          <Group key={group.title} group={group} />
        ))}
        {plan.notes?.map((note) => (
          <p key={note} className="text-muted">
            {note}
          </p>
        ))}
        <details>
          <summary className="cursor-pointer rounded text-muted hover:text-ink">
            {plan.files.length === 1 ? "1 file" : `${plan.files.length} files`}, {byteText(size)}
          </summary>
          <ul className="mt-1.5 font-mono">
            {plan.files.map((f) => (
              <li key={f.path} className="flex gap-3">
                <span className="min-w-0 flex-1 break-all">{f.path}</span>
                <span className="shrink-0 text-muted">{byteText(f.size)}</span>
              </li>
            ))}
          </ul>
        </details>
      </div>
    </Dialog>
  );
}

function Group({ group }: { group: ConsentGroup }) {
  return (
    <section className={cn(group.danger && "rounded-lg border border-accent p-3")}>
      <h3 className="mb-1.5 flex items-center gap-2 font-semibold">
        {group.danger && <ShieldAlert className="size-4 text-accent-ink" aria-hidden="true" />}
        {group.title}
      </h3>
      <ul className="flex flex-col">
        {group.lines.map((line) => (
          <li key={line.item.kind + line.item.name}>
            <Line line={line} danger={group.danger} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Line({ line, danger }: { line: ConsentLine; danger: boolean }) {
  const fields = line.item.fields ?? [];
  const row = (
    <>
      <span className="text-muted">{line.verb}</span>
      <span className={cn("min-w-0 break-words", danger && "font-mono")}>{line.what}</span>
      <span className="min-w-0 break-words text-muted max-sm:col-start-2">{line.note}</span>
    </>
  );
  const grid = "grid grid-cols-[72px_minmax(0,1fr)] gap-x-3 sm:grid-cols-[72px_minmax(0,2fr)_minmax(0,3fr)] py-1";
  if (fields.length === 0) return <div className={grid}>{row}</div>;
  return (
    <details>
      <summary className={cn(grid, "cursor-pointer list-none rounded hover:bg-raised")}>{row}</summary>
      <dl className="mb-2 ml-[84px] flex flex-col gap-2 border-l-2 border-border pl-3">
        {fields.map((field) => (
          <div key={field.name}>
            <dt className="text-muted">{field.name}</dt>
            <dd className="max-h-60 overflow-auto font-mono break-words whitespace-pre-wrap">{field.value}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
