import { Ban, Play, RotateCcw } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "@/components/ui/Button";
import { RelativeTime } from "@/components/ui/RelativeTime";
import { useChat } from "@/hooks/useGeneralChat";
import { cut, own, words } from "@/lib/workspace/read";
import { nameOf, over, progressOf, stepName } from "@/lib/workspace/workflow";
import type { WorkflowHandlers, WorkflowInstanceState } from "@/lib/workspace/workspaceMode";
import { Badge, Meter, type BadgeTone } from "../parts";

const tones: Record<string, BadgeTone> = { waiting: "warn", failed: "bad", interrupted: "bad", complete: "good" };

/** WorkflowFrame is what all workflows have: how far it is, and what a person can do now. */
export function WorkflowFrame({ instance, handlers, children }: { instance: WorkflowInstanceState; handlers: WorkflowHandlers; children: ReactNode }) {
  const { done, of } = progressOf(instance);
  const stopped = instance.steps.find((s) => s.state === "failed" || s.state === "interrupted");
  const waitsBehind = [...instance.steps].reverse().find((s) => s.state === "done");
  const next = instance.steps.find((s) => s.state !== "done");
  // A run can't be begun while another turn is at the chat.
  const elsewhere = useChat((s) => s.starting || s.turn !== null) && instance.state !== "running";
  return (
    <div className="flex min-w-0 flex-col gap-4 p-4 text-sm">
      <div className="flex flex-col gap-2">
        <div className="flex flex-wrap items-center gap-2">
          <h3 dir="auto" className="text-[15px] font-semibold break-words">{nameOf(instance.workflow)}</h3>
          <span role="status">
            <Badge tone={own(tones, instance.state)}>{words(instance.state)}</Badge>
          </span>
          <span className="text-[13px] text-muted">
            started <RelativeTime at={instance.created_at} />
          </span>
        </div>
        <div className="flex items-center gap-3">
          <Meter value={of === 0 ? 1 : done / of} className="flex-1" tone={instance.state === "complete" ? "bg-good" : undefined} />
          <span className="text-[13px] text-muted tabular-nums">
            {done} of {of} {of === 1 ? "step" : "steps"}
          </span>
        </div>
      </div>
      {instance.state === "waiting" && (
        <Question text={`${waitsBehind ? stepName(waitsBehind) : "A step"} is done. Look at what it gave, then let it go on${next ? ` with “${stepName(next)}”` : ""}.`}>
          <Button look="accent" disabled={handlers.busy || elsewhere} onClick={handlers.onContinue}>
            <Play className="size-4" aria-hidden="true" />
            Continue
          </Button>
        </Question>
      )}
      {(instance.state === "failed" || instance.state === "interrupted") && (
        <Question bad text={stopped ? `${stepName(stopped)}: ${stopped.error ? cut(stopped.error, 2_000) : stopped.state}` : `It is ${instance.state}.`}>
          <Button look="accent" disabled={handlers.busy || elsewhere} onClick={handlers.onRetry}>
            <RotateCcw className="size-4" aria-hidden="true" />
            Do the step again
          </Button>
        </Question>
      )}
      {children}
      {!over(instance) && (
        <div>
          <Button size="small" look="danger" disabled={handlers.busy} onClick={handlers.onCancel}>
            <Ban className="size-3.5" aria-hidden="true" />
            Cancel the workflow
          </Button>
        </div>
      )}
    </div>
  );
}

function Question({ text, bad, children }: { text: string; bad?: boolean; children: ReactNode }) {
  return (
    <div role="group" aria-label="What next" className={bad ? "flex flex-col items-start gap-3 rounded-lg border border-bad p-3" : "flex flex-col items-start gap-3 rounded-lg border border-accent p-3"}>
      <p dir="auto" className="min-w-0 max-w-full break-words whitespace-pre-line">{text}</p>
      {children}
    </div>
  );
}
