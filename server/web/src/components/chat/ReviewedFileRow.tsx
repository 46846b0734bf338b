import type { ReactNode } from "react";
import { cn } from "@/lib/cn";
import { visible } from "@/lib/visible";
import type { ReviewedFile } from "@/types/chat";

/** ReviewedFileRow shows one change of a call: its path, its counts, and its diff below. children stand before it. */
export function ReviewedFileRow({ file, open, children }: { file: ReviewedFile; open: boolean; children?: ReactNode }) {
  return (
    <li className="flex items-start border-b border-border pl-3 last:border-b-0">
      {children}
      <details open={open && Boolean(file.diff)} className="min-w-0 flex-1">
        <summary className="flex min-h-8 items-center gap-2 px-2">
          <span className="text-muted">{file.kind}</span>
          <span className="min-w-0 flex-1 font-mono text-xs break-all">{visible(file.path)}</span>
          <span className="shrink-0 text-muted">{file.diff || file.added || file.removed ? `+${file.added ?? 0} -${file.removed ?? 0}` : ""}</span>
        </summary>
        {file.note && <p className="px-2 pb-1 text-muted">{visible(file.note)}</p>}
        {file.diff && (
          // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
          <pre className="overflow-x-auto px-2 pb-2 font-mono text-xs" tabIndex={0} aria-label={`Changes of ${file.path}`}>
            {file.diff.split("\n").map((line, i) => (
              <span key={i} className={cn("block", line.startsWith("+") && "text-good", line.startsWith("-") && "text-bad", line.startsWith("@@") && "text-muted")}>
                {visible(line)}
              </span>
            ))}
          </pre>
        )}
      </details>
    </li>
  );
}
