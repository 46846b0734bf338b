import { Ban, Check, ChevronRight, CircleAlert, LoaderCircle } from "lucide-react";
import { memo, useId, useState, type ReactNode } from "react";
import { useUndone } from "@/components/files/useUndone";
import { argument } from "@/lib/argument";
import { cn } from "@/lib/cn";
import { duration } from "@/lib/time";
import type { ActiveToolProgress, ToolCall } from "@/types/chat";
import { ToolDetails } from "./ToolDetails";
import { ToolIcon } from "./toolIcon";
import { ToolProgress } from "./ToolProgress";

interface Props {
  call: ToolCall | undefined;
  chatId: string | null;
  progress?: ActiveToolProgress;
  children?: ReactNode; // what a server asks while it runs
}

/** ToolCard is a call in one line, and open all of it. */
export const ToolCard = memo(function ToolCard({ call, chatId, progress, children }: Props) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const files = call?.changed ?? call?.changes?.length ?? 0;
  const undone = useUndone(chatId, call?.call_id, files > 0 && call?.status !== "running", call?.undone);
  if (!call) return null;
  const about = argument(call.input);
  return (
    <div className="my-2 overflow-hidden rounded-lg border border-border bg-surface text-[13px]">
      <button type="button" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)} className="flex w-full min-w-0 items-center gap-2 px-3 py-2 text-left hover:bg-raised">
        <ToolIcon tool={call.tool_name} className="size-4 shrink-0 text-muted" />
        <span className="shrink-0 font-medium">{call.tool_name}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-muted" dir="auto">{about}</span>
        {call.app_calls !== undefined && call.app_calls > 0 && <span className="shrink-0 text-muted">{call.app_calls === 1 ? "1 call by its page" : `${call.app_calls} calls by its page`}</span>}
        {files > 0 && <span className="shrink-0 text-muted">{files === 1 ? "1 file changed" : `${files} files changed`}{undone && ", undone"}</span>}
        {call.duration_ms !== undefined && <span className="shrink-0 text-muted tabular-nums">{duration(call.duration_ms)}</span>}
        <Status call={call} />
        <ChevronRight className={cn("size-3.5 shrink-0 text-muted transition-transform", open && "rotate-90")} aria-hidden="true" />
      </button>
      {call.status === "running" && progress && <ToolProgress progress={progress} tool={call.tool_name} />}
      {children}
      {call.status === "error" && !open && call.error && <p className="truncate border-t border-border px-3 py-1.5 text-xs text-bad">{call.error}</p>}
      <div id={id} hidden={!open}>
        {open && <ToolDetails call={call} chatId={chatId} undone={undone} />}
      </div>
    </div>
  );
});

function Status({ call }: { call: ToolCall }) {
  const look = "size-4 shrink-0";
  switch (call.status) {
    case "running":
      return <LoaderCircle className={cn(look, "animate-spin text-accent-ink")} aria-label="Running" />;
    case "error":
      return call.error?.startsWith("denied") ? <Ban className={cn(look, "text-muted")} aria-label="Denied" /> : <CircleAlert className={cn(look, "text-bad")} aria-label="Failed" />;
    case "success":
      return <Check className={cn(look, "text-good")} aria-label="Done" />;
    default:
      return null;
  }
}
