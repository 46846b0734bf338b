import { FileText } from "lucide-react";
import type { ReactNode } from "react";
import { bytes } from "@/lib/time";
import type { Attachment } from "@/types/chat";

/** AttachmentChip is a file that goes or went along with a message. */
export function AttachmentChip({ attachment: a, children }: { attachment: Attachment; children?: ReactNode }) {
  return (
    <span className="flex max-w-60 items-center gap-2 rounded-lg border border-border bg-surface p-1 pr-2 text-[13px]">
      {a.preview ? (
        <img src={a.preview} alt="" width={40} height={40} className="size-10 shrink-0 rounded-md object-cover" />
      ) : (
        <FileText className="m-1 size-4 shrink-0 text-muted" aria-hidden="true" />
      )}
      <span className="min-w-0">
        <span className="block truncate">{a.name}</span>
        {a.size !== undefined && <span className="block text-xs text-muted">{bytes(a.size)}</span>}
      </span>
      {children}
    </span>
  );
}
