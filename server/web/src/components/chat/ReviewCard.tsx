import { GitCompare } from "lucide-react";
import { useId, useState } from "react";
import { Button, useSettled } from "@/components/ui/Button";
import { useChat } from "@/hooks/useGeneralChat";
import { explain } from "@/lib/api/fault";
import { argument } from "@/lib/argument";
import { visible } from "@/lib/visible";
import type { Approval, ApprovalReview, ReviewedFile } from "@/types/chat";
import { ReviewedFileRow } from "./ReviewedFileRow";
import { TimeLeft } from "./TimeLeft";

/** ReviewCard shows what a call has changed, before anything of it is applied: the user applies all, some of the files, or nothing. */
export function ReviewCard({ approval, review }: { approval: Approval; review: ApprovalReview }) {
  const confirm = useChat((s) => s.confirm);
  const settled = useSettled();
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const id = useId();
  const ready = settled && !busy && Boolean(approval.nonce);
  const chosen = review.files.filter((f) => !left.has(f.path)).map((f) => f.path);
  const all = left.size === 0;
  const count = review.files.length + (review.more ?? 0);

  async function decide(apply: boolean) {
    setBusy(true);
    setProblem("");
    try {
      await confirm(approval, apply ? "allow" : "deny", reason.trim() || undefined, undefined, apply && !all ? chosen : undefined);
    } catch (error) {
      setProblem(explain(error).message);
      setBusy(false);
    }
  }
  const toggle = (file: ReviewedFile) => {
    const group = file.group ? review.files.filter((f) => f.group === file.group).map((f) => f.path) : [file.path];
    setLeft((was) => new Set(was.has(file.path) ? [...was].filter((p) => !group.includes(p)) : [...was, ...group]));
  };

  return (
    <section aria-labelledby={`${id}-title`} className="@container my-2 overflow-hidden rounded-lg border border-accent bg-surface text-[13px]">
      <p className="sr-only" role="alert">{`${approval.tool} has changed files; nothing is applied yet`}</p>
      <div className="flex items-center gap-2 px-3 py-2">
        <GitCompare className="size-4 shrink-0 text-accent-ink" aria-hidden="true" />
        <p id={`${id}-title`} className="min-w-0 flex-1 font-medium">
          Apply the changes of {approval.tool} to {count === 1 ? "1 file" : `${count} files`}?
        </p>
        {approval.expires_at && <TimeLeft until={approval.expires_at} />}
      </div>
      <p className="border-t border-border px-3 py-2 font-mono text-xs break-all">{visible(argument(approval.input))}</p>
      <ul className="max-h-96 overflow-y-auto border-t border-border">
        {review.files.map((file) => (
          <ReviewedFileRow key={file.path} file={file} open={review.files.length <= 3}>
            <input type="checkbox" aria-label={`Apply ${file.path}`} checked={!left.has(file.path)} onChange={() => toggle(file)} className="mt-2 size-4 shrink-0 accent-(--fettle-accent)" />
          </ReviewedFileRow>
        ))}
        {review.more && <li className="px-3 py-1 text-muted">{review.more} more are not listed, and are applied only with all others.</li>}
        {review.conflicts?.map((c) => (
          <li key={c.path} className="px-3 py-1 text-muted">
            Not applied in any case, since it was changed meanwhile: <span className="font-mono text-xs break-all">{visible(c.path)}</span>
          </li>
        ))}
      </ul>
      {review.output && (
        <details className="border-t border-border">
          <summary className="min-h-8 px-3 py-1.5 text-muted">Output</summary>
          {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
          <pre className="max-h-40 overflow-auto px-3 pb-2 font-mono text-xs whitespace-pre-wrap" tabIndex={0} aria-label="Output of the call">
            {visible(review.output)}
          </pre>
        </details>
      )}
      <div className="flex flex-wrap items-center justify-end gap-2 border-t border-border px-3 py-2">
        {problem && <p role="alert" className="basis-full text-bad">{problem}</p>}
        <input
          aria-label="Reason, told to the model"
          placeholder="Reason, if you discard some of it"
          maxLength={2000}
          value={reason}
          onChange={(e) => setReason(e.target.value)}
          className="h-8 min-w-32 flex-1 basis-full rounded-md @min-[480px]:basis-0 border border-border bg-bg px-2 placeholder:text-muted"
        />
        <Button disabled={!ready} onClick={() => void decide(false)}>
          Discard
        </Button>
        <Button look="accent" disabled={!ready || chosen.length === 0} onClick={() => void decide(true)}>
          {all ? "Apply" : `Apply ${chosen.length} of ${count}`}
        </Button>
      </div>
    </section>
  );
}
