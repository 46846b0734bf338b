import { ChevronRight, CircleCheck, CircleX, LoaderCircle, SquareArrowOutUpRight } from "lucide-react";
import { Button } from "@/components/ui/Button";
import { Empty } from "@/components/ui/States";
import { duration } from "@/lib/time";
import { useUI } from "@/lib/ui";
import { cut, pretty } from "@/lib/workspace/read";
import type { ToolCall } from "@/types/chat";
import { LongText } from "./LongText";
import { Capped } from "./parts";

/** ToolHistory is the calls of an answer, each to be opened. */
export function ToolHistory({ calls }: { calls: ToolCall[] }) {
  if (calls.length === 0) return <Empty title="No tools were called" />;
  return (
    <div className="p-3">
      <Capped items={calls} className="gap-1" render={(call) => <Call call={call} />} />
    </div>
  );
}

/** argumentOf is the argument that says most: the first text of a call. */
function argumentOf(input: Record<string, unknown>): string {
  const first = Object.values(input).find((v) => typeof v === "string" && v !== "");
  return typeof first === "string" ? cut(first.slice(0, 200).replace(/\s+/g, " "), 100) : "";
}

function Call({ call }: { call: ToolCall }) {
  const callId = call.call_id;
  const running = call.status === "running" || call.status === "pending";
  const Icon = running ? LoaderCircle : call.status === "error" ? CircleX : CircleCheck;
  return (
    <details className="group rounded-lg border border-border">
      <summary className="flex cursor-pointer list-none items-center gap-2 rounded-lg px-2 py-2 text-[13px] hover:bg-raised">
        <ChevronRight aria-hidden="true" className="size-4 shrink-0 text-muted transition-transform group-open:rotate-90" />
        <Icon role="img" aria-label={running ? "Running" : call.status === "error" ? "Failed" : "Done"} className={call.status === "error" ? "size-4 shrink-0 text-bad" : "size-4 shrink-0 text-muted"} />
        <span className="shrink-0 font-medium">{call.tool_name}</span>
        <span dir="auto" className="min-w-0 flex-1 truncate font-mono text-muted">{argumentOf(call.input)}</span>
        {call.changed ? <span className="shrink-0 text-muted">{call.changed} {call.changed === 1 ? "file" : "files"}</span> : null}
        {call.duration_ms !== undefined && <span className="shrink-0 text-muted tabular-nums">{duration(call.duration_ms)}</span>}
      </summary>
      <div className="flex flex-col gap-3 border-t border-border p-3">
        {callId && (
          <div>
            <Button size="small" onClick={() => useUI.getState().select({ kind: "call", callId })}>
              <SquareArrowOutUpRight className="size-3.5" aria-hidden="true" />
              Open
            </Button>
          </div>
        )}
        {call.error && <p dir="auto" className="text-[13px] break-words text-bad">{cut(call.error, 4_000)}</p>}
        <Labelled name="Input" text={pretty(call.input)} />
        {call.output && <Labelled name="Output" text={call.output} />}
      </div>
    </details>
  );
}

function Labelled({ name, text }: { name: string; text: string }) {
  return (
    <div className="min-w-0">
      <p className="mb-1 text-[13px] text-muted">{name}</p>
      <div className="rounded-md bg-surface p-2">
        <LongText text={text} />
      </div>
    </div>
  );
}
