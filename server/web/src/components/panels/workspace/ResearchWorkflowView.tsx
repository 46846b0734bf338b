import { Circle, CircleCheck, CircleX, LoaderCircle } from "lucide-react";
import { dataOf } from "@/lib/workspace/payload";
import { fields, list, own, records, share, text, texts, words, type Fields } from "@/lib/workspace/read";
import type { WorkspacePayload } from "@/types/chat";
import { Badge, Capped, Chips, Meter, Section, View, Words } from "./parts";
import { Prose } from "./LongText";

const sources: Record<string, string> = { workspace: "This chat's files", wikipedia: "Wikipedia", openalex: "OpenAlex, scholarly works" };

export function sourceName(source: string): string {
  return own(sources, source) ?? source;
}

/** ResearchWorkflowView is a piece of research as it is planned, or as far as it is. */
export default function ResearchWorkflowView({ payload }: { payload: WorkspacePayload }) {
  const data = fields(dataOf(payload));
  const steps = records(data.steps ?? data.stages ?? data.phases);
  const checklist = list(data.checklist ?? data.items);
  const question = text(data.question ?? data.query ?? data.original_query);
  const progress = share(data.progress);
  return (
    <View>
      {question && <Words className="text-[15px] font-medium">{question}</Words>}
      {payload.content && <Prose text={payload.content} />}
      {text(data.status ?? data.stage) && (
        <div className="flex items-center gap-3">
          <Badge>{words(text(data.status ?? data.stage, 100))}</Badge>
          {progress !== undefined && (
            <>
              <Meter value={progress} className="flex-1" />
              <span className="text-[13px] text-muted">{Math.round(progress * 100)} %</span>
            </>
          )}
        </div>
      )}
      {texts(data.aspects).length > 0 && (
        <Section title="What the answer has to cover">
          <ol className="flex flex-col gap-1">
            {texts(data.aspects).slice(0, 100).map((aspect, i) => (
              <li key={i} className="flex gap-3">
                <span className="w-4 shrink-0 text-right text-muted tabular-nums">{i + 1}</span>
                <Words>{aspect}</Words>
              </li>
            ))}
          </ol>
        </Section>
      )}
      {texts(data.sources).length > 0 && (
        <Section title="Where it looks">
          <Chips values={texts(data.sources).map(sourceName)} />
        </Section>
      )}
      {steps.length > 0 && (
        <Section title="Steps">
          <Capped items={steps} className="gap-2" render={(step) => <Step step={step} />} />
        </Section>
      )}
      {checklist.length > 0 && (
        <Section title="Checklist">
          <Capped items={checklist} className="gap-2" render={(item) => <Step step={typeof item === "string" ? { name: item } : fields(item)} />} />
        </Section>
      )}
      {question === "" && steps.length === 0 && texts(data.aspects).length === 0 && !payload.content && <p className="text-muted">The plan is empty.</p>}
    </View>
  );
}

function Step({ step }: { step: Fields }) {
  const state = text(step.status ?? step.state, 60).toLowerCase();
  const Icon = /done|complete|success|filled/.test(state) ? CircleCheck : /fail|error/.test(state) ? CircleX : /run|progress|active/.test(state) ? LoaderCircle : Circle;
  return (
    <div className="flex gap-2">
      <Icon aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-muted" />
      <div className="min-w-0">
        <Words>{text(step.name ?? step.title ?? step.question ?? step.id ?? step.description) || "Step"}</Words>
        {(state || text(step.message ?? step.summary)) && <Words className="text-[13px] text-muted">{[words(state), text(step.message ?? step.summary)].filter(Boolean).join(": ")}</Words>}
      </div>
    </div>
  );
}
