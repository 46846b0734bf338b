import { ChevronRight, Circle, CircleCheck, CircleDashed, CircleX, LoaderCircle } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/Button";
import { duration } from "@/lib/time";
import { fields, own, pretty, text, words } from "@/lib/workspace/read";
import { stepName, type StepState } from "@/lib/workspace/workflow";
import type { WorkflowInstanceState } from "@/lib/workspace/workspaceMode";
import { JsonView } from "../JsonView";
import { LongText, Prose } from "../LongText";

const icons: Record<string, typeof Circle> = { done: CircleCheck, running: LoaderCircle, failed: CircleX, interrupted: CircleDashed };
const colours: Record<string, string> = { done: "text-good", running: "animate-spin text-accent-ink", failed: "text-bad", interrupted: "text-warn" };

/** Steps are a workflow's steps in their order, each with what it gave. */
export function Steps({ instance, open }: { instance: WorkflowInstanceState; open?: string }) {
  return (
    <ol aria-label="Steps" className="flex flex-col gap-1">
      {instance.steps.map((step, i) => {
        const defined = instance.workflow.steps.find((s) => s.id === step.id);
        const does = defined?.tool ? `tool ${defined.tool}` : defined?.agent ? `agent ${defined.agent}` : "";
        return <Step key={step.id} step={step} place={i + 1} does={[does, defined?.checkpoint ? "then waits for you" : ""].filter(Boolean).join(", ")} first={step.id === open} />;
      })}
    </ol>
  );
}

function Step({ step, place, does, first }: { step: StepState; place: number; does: string; first: boolean }) {
  const [open, setOpen] = useState(first);
  const Icon = (Object.hasOwn(icons, step.state) ? icons[step.state] : undefined) ?? Circle;
  const has = step.result !== undefined || Boolean(step.error);
  const took = step.started_at && step.finished_at ? Date.parse(step.finished_at) - Date.parse(step.started_at) : undefined;
  return (
    <li className="rounded-lg border border-border">
      <button type="button" disabled={!has} aria-expanded={has ? open : undefined} onClick={() => setOpen(!open)} className="flex w-full items-center gap-2 rounded-lg px-3 py-2 text-left enabled:hover:bg-raised">
        <Icon role="img" aria-label={words(step.state)} className={`size-4 shrink-0 ${own(colours, step.state) ?? "text-muted"}`} />
        <span className="w-4 shrink-0 text-right text-muted tabular-nums">{place}</span>
        <span className="min-w-0 flex-1">
          <span dir="auto" className="block break-words">{stepName(step)}</span>
          {does && <span className="block truncate text-[13px] text-muted">{does}</span>}
        </span>
        {took !== undefined && took >= 0 && <span className="shrink-0 text-[13px] text-muted tabular-nums">{duration(took)}</span>}
        {has && <ChevronRight aria-hidden="true" className={open ? "size-4 shrink-0 rotate-90 text-muted" : "size-4 shrink-0 text-muted"} />}
      </button>
      {has && open && (
        <div className="border-t border-border p-3">
          {step.error && <p dir="auto" className="mb-2 break-words text-bad">{text(step.error)}</p>}
          {step.result !== undefined && <Result result={step.result} />}
        </div>
      )}
    </li>
  );
}

/** Result is what a step gave: words are read, the rest is data. */
export function Result({ result }: { result: unknown }) {
  const [raw, setRaw] = useState(false);
  const words = fields(result).text;
  if (typeof result === "string") return <Prose text={result} />;
  if (typeof words === "string" && Object.keys(fields(result)).length === 1) return <Prose text={words} />;
  return (
    <div className="min-w-0">
      {raw ? <LongText text={pretty(result)} /> : <JsonView value={result} depth={1} />}
      <Button size="small" look="quiet" className="mt-2" aria-pressed={raw} onClick={() => setRaw(!raw)}>
        As JSON
      </Button>
    </div>
  );
}
