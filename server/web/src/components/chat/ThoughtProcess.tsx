import { ChevronRight } from "lucide-react";
import { useId, useState } from "react";
import { cn } from "@/lib/cn";
import { groupThoughts, thoughtLine } from "@/lib/thoughts";
import type { ThoughtStep } from "@/types/chat";

/** ThoughtProcess is document 003's: what the agents did, above the answer, and one line once it is there. */
export function ThoughtProcess({ thoughts, running }: { thoughts: ThoughtStep[]; running: boolean }) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const id = useId();
  const groups = groupThoughts(thoughts);
  if (groups.length === 0) return null;
  const open = chosen ?? running;
  const agents = [...new Set(groups.map((g) => g.agent).filter(Boolean))];
  const steps = groups.reduce((n, g) => n + g.steps.length, 0);
  return (
    <section aria-label="Thought process" className="border-l-2 border-accent bg-surface font-mono text-[13px] text-muted">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setChosen(!open)}
        className="flex w-full items-center gap-2 px-4 py-2 text-left hover:text-ink"
      >
        <ChevronRight className={cn("size-3.5 shrink-0 transition-transform", open && "rotate-90")} aria-hidden="true" />
        <span className="min-w-0 truncate">{agents.length > 0 ? `${agents.join(", ")} · ${steps === 1 ? "1 step" : `${steps} steps`}` : running ? "Thinking" : "Thoughts"}</span>
      </button>
      <div id={id} hidden={!open} className="px-4 pb-3">
        {open &&
          groups.map((group, i) => (
            <div key={i} className="mt-2 first:mt-0">
              {group.agent && <p className="text-xs font-semibold tracking-wide text-ink uppercase">{group.agent}</p>}
              {group.steps.map((step, j) => (
                <p key={j} dir="auto" className={cn("break-words whitespace-pre-wrap", step.type === "reasoning" && "border-l border-border pl-3 font-sans", step.type === "tool_result" && "line-clamp-3")}>
                  {thoughtLine(step)}
                </p>
              ))}
            </div>
          ))}
      </div>
    </section>
  );
}
