import { useQuery } from "@tanstack/react-query";
import { ChevronDown, ChevronRight } from "lucide-react";
import { useId, useState } from "react";
import { Failed, Skeleton } from "@/components/ui/States";
import { cn } from "@/lib/cn";
import { bytes } from "@/lib/time";
import type { ShownChange } from "./changes";
import type { Hunk, Unified } from "./hunks";
import { textOf } from "./kinds";
import { readPart } from "./workspaceApi";

const looks = {
  added: { letter: "A", look: "text-good" },
  modified: { letter: "M", look: "text-warn" },
  removed: { letter: "D", look: "text-bad" },
  renamed: { letter: "R", look: "text-accent-ink" },
};

// Two texts of this size are compared in a moment; larger ones are told of alone.
const maxCompared = 1 << 20;

interface FileDiffProps {
  chatId: string;
  change: ShownChange;
  from?: string;
  to: string;
  open: boolean;
}

/** FileDiff is one file of a diff. Its content is loaded when it is opened. */
export function FileDiff({ chatId, change, from, to, open: first }: FileDiffProps) {
  const id = useId();
  const [open, setOpen] = useState(first);
  const { letter, look } = looks[change.kind];
  return (
    <li className="border-b border-border">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        className="sticky top-0 z-10 flex w-full items-center gap-2 bg-surface px-2 py-1.5 text-left text-[13px] outline-offset-[-2px] hover:bg-raised"
      >
        {open ? <ChevronDown className="size-4 shrink-0 text-muted" /> : <ChevronRight className="size-4 shrink-0 text-muted" />}
        <span className={cn("w-3 shrink-0 font-mono", look)} aria-hidden="true">
          {letter}
        </span>
        <span className="sr-only">{change.kind}</span>
        <span className="min-w-0 flex-1 font-mono break-all">
          {change.from && (
            <>
              <bdi className="text-muted">{change.from}</bdi> →{" "}
            </>
          )}
          <bdi>{change.path}</bdi>
        </span>
        <span className="shrink-0 text-xs text-muted">{sizes(change)}</span>
      </button>
      <div id={id} hidden={!open}>
        {open && <Body chatId={chatId} change={change} from={from} to={to} />}
      </div>
    </li>
  );
}

function sizes({ old, new: now, content }: ShownChange): string {
  if (!content) return "";
  if (old && now) return `${bytes(old.size)} → ${bytes(now.size)}`;
  return bytes((now ?? old)?.size ?? 0);
}

function Body({ chatId, change, from, to }: Omit<FileDiffProps, "open">) {
  const { old, new: now, content, notes } = change;
  const large = Math.max(old?.size ?? 0, now?.size ?? 0) > maxCompared;
  const diff = useQuery({
    queryKey: ["workspace", chatId, "hunks", change.path, old?.sha256 ?? "", now?.sha256 ?? ""],
    enabled: content && !large,
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<Unified | "binary"> => {
      const [{ unified }, before, after] = await Promise.all([
        import("./hunks"),
        old ? readPart(chatId, change.path, { manifest: from }, maxCompared, signal) : null,
        now ? readPart(chatId, change.path, { manifest: to }, maxCompared, signal) : null,
      ]);
      const a = before ? textOf(before.bytes, true) : "";
      const b = after ? textOf(after.bytes, true) : "";
      return a === null || b === null ? "binary" : unified(a, b);
    },
  });
  return (
    <>
      {notes.map((note) => (
        <Note key={note}>{note}</Note>
      ))}
      {change.kind === "renamed" && <Note>Renamed; its content is the same.</Note>}
      {content && large && <Note>Too large to be compared here.</Note>}
      {content && !large && diff.isError && <Failed what="Its content could not be read" error={diff.error} onRetry={() => void diff.refetch()} />}
      {content && !large && diff.isPending && <Skeleton lines={3} />}
      {diff.data === "binary" && <Note>Binary; {old && now ? "its content differs." : old ? "it is gone." : "it is new."}</Note>}
      {diff.data && diff.data !== "binary" && <Hunks diff={diff.data} path={change.path} />}
    </>
  );
}

function Note({ children }: { children: React.ReactNode }) {
  return <p className="px-3 py-2 text-[13px] break-words text-muted">{children}</p>;
}

function Hunks({ diff, path }: { diff: Unified; path: string }) {
  if (diff.hunks.length === 0) return <Note>{diff.cut > 0 ? "Too long to be shown." : "An empty file."}</Note>;
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls to the side
    <div tabIndex={0} role="region" aria-label={`Changes of ${path}`} className="overflow-x-auto outline-offset-[-2px]">
      <p className="px-3 py-1 text-xs text-muted">
        <span className="text-good">+{diff.added}</span> <span className="text-bad">−{diff.removed}</span> {diff.added + diff.removed === 1 ? "line" : "lines"}
      </p>
      <div className="w-max min-w-full font-mono text-xs leading-5">
        {diff.hunks.map((hunk) => (
          <HunkLines key={hunk.head} hunk={hunk} />
        ))}
      </div>
      {diff.cut > 0 && <Note>{diff.cut.toLocaleString("en")} more lines are not shown.</Note>}
    </div>
  );
}

function HunkLines({ hunk }: { hunk: Hunk }) {
  return (
    <>
      <div className="bg-surface px-3 text-muted">{hunk.head}</div>
      {hunk.lines.map((line, i) => (
        <div key={i} className={cn("flex pr-3", line.sign === "+" && "bg-added", line.sign === "-" && "bg-removed")}>
          <span className="w-11 shrink-0 pr-2 text-right text-muted tabular-nums select-none" aria-hidden="true">
            {line.old}
          </span>
          <span className="w-11 shrink-0 pr-2 text-right text-muted tabular-nums select-none" aria-hidden="true">
            {line.new}
          </span>
          <span className="w-4 shrink-0 select-none">{line.sign}</span>
          <bdi className="whitespace-pre">{line.text.replace(/\r$/, "␍") || " "}</bdi>
          {line.open && <span className="pl-3 text-muted select-none">no end of line</span>}
        </div>
      ))}
    </>
  );
}
