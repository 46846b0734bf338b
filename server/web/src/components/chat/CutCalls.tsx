import { useQuery } from "@tanstack/react-query";
import { FileClock } from "lucide-react";
import { useId, useState } from "react";
import { Button, useSettled } from "@/components/ui/Button";
import { RelativeTime } from "@/components/ui/RelativeTime";
import { tell } from "@/components/ui/Toasts";
import { useChat } from "@/hooks/useGeneralChat";
import { explain } from "@/lib/api/fault";
import { argument } from "@/lib/argument";
import { visible } from "@/lib/visible";
import type { ReviewedFile } from "@/types/chat";
import { useRefresh } from "../files/useWorkspace";
import { applyCutCall, discardCutCall, reviewCutCall } from "../files/workspaceApi";
import { ReviewedFileRow } from "./ReviewedFileRow";
import type { CutCall } from "./useCutCalls";

/** CutCalls offers what calls wrote that were cut off, before it was applied to the folder. */
export function CutCalls({ chatId, calls }: { chatId: string; calls: CutCall[] }) {
  const [later, setLater] = useState<ReadonlySet<string>>(new Set());
  const shown = calls.filter((c) => !later.has(c.call_id));
  if (shown.length === 0) return null;
  return (
    <div className="mx-auto max-h-[50%] w-full max-w-[800px] shrink-0 overflow-y-auto px-4">
      {shown.map((c) => (
        <Offer key={c.call_id} chatId={chatId} call={c} onLater={() => setLater((was) => new Set([...was, c.call_id]))} />
      ))}
    </div>
  );
}

const first = 5; // files that are listed at once

function Offer({ chatId, call, onLater }: { chatId: string; call: CutCall; onLater(): void }) {
  const runs = useChat((s) => s.turn !== null);
  const refresh = useRefresh(chatId);
  const settled = useSettled();
  const [all, setAll] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const id = useId();
  const changes = useQuery({ queryKey: ["cut", chatId, call.call_id], queryFn: ({ signal }) => reviewCutCall(chatId, call.call_id, signal), enabled: !runs, retry: false });
  const files = (changes.data?.review.files ?? []) as ReviewedFile[];
  const more = (changes.data?.review.more ?? 0) + (all ? 0 : Math.max(files.length - first, 0));
  const ready = settled && !busy && !runs;

  async function decide(what: () => Promise<string>) {
    setBusy(true);
    setProblem("");
    try {
      tell(await what());
    } catch (error) {
      setProblem(explain(error).message);
    } finally {
      setBusy(false);
      await refresh();
    }
  }
  const apply = async () => {
    const done = await applyCutCall(chatId, call.call_id);
    return [`Applied ${done.changes.length === 1 ? "1 change" : `${done.changes.length} changes`}; Undo reverts them`, ...(done.notes ?? [])].join(". ");
  };
  const discard = async () => {
    await discardCutCall(chatId, call.call_id);
    return "Discarded what the call wrote";
  };

  return (
    <section aria-labelledby={`${id}-title`} className="my-2 overflow-hidden rounded-lg border border-accent bg-surface text-[13px]">
      <div className="flex items-center gap-2 px-3 py-2">
        <FileClock className="size-4 shrink-0 text-accent-ink" aria-hidden="true" />
        <p id={`${id}-title`} className="min-w-0 flex-1 font-medium">
          {call.tool_id ? visible(call.tool_id) : "A call"} was cut off <RelativeTime at={call.started} />. What it wrote is not in the folder yet.
        </p>
      </div>
      {call.input !== undefined && <p className="border-t border-border px-3 py-2 font-mono text-xs break-all">{visible(argument(call.input as Record<string, unknown>))}</p>}
      {call.suspect && <p className="border-t border-border px-3 py-2 text-muted">The system was started again since then, so these files may be damaged.</p>}
      <ul className="border-t border-border">
        {(all ? files : files.slice(0, first)).map((file) => (
          <ReviewedFileRow key={file.path} file={file} open={false} />
        ))}
        {changes.data?.review.conflicts?.map((c) => (
          <li key={c.path} className="px-3 py-1 text-muted">
            Not applied, since it was changed meanwhile: <span className="font-mono text-xs break-all">{visible(c.path)}</span>
          </li>
        ))}
        {more > 0 && (
          <li className="flex min-h-8 items-center gap-2 px-3 text-muted">
            and {more} more
            {!all && files.length > first && (
              <Button size="small" look="quiet" onClick={() => setAll(true)}>
                Show all
              </Button>
            )}
          </li>
        )}
      </ul>
      <div className="flex flex-wrap items-center justify-end gap-2 border-t border-border px-3 py-2">
        {changes.data?.notes?.map((note) => <p key={note} className="basis-full text-muted">{visible(note)}</p>)}
        {(problem || changes.isError) && <p role="alert" className="basis-full text-bad">{problem || explain(changes.error).message}</p>}
        <Button look="quiet" onClick={onLater}>
          Later
        </Button>
        <Button disabled={!ready} onClick={() => void decide(discard)}>
          Discard
        </Button>
        <Button look="accent" disabled={!ready || !changes.data} onClick={() => void decide(apply)}>
          Apply
        </Button>
      </div>
    </section>
  );
}
