import { decimal, fields, number, own, records, text, texts, type Fields } from "@/lib/workspace/read";
import { resultOf } from "@/lib/workspace/workflow";
import type { WorkflowHandlers, WorkflowInstanceState } from "@/lib/workspace/workspaceMode";
import { Prose } from "../LongText";
import { Badge, Capped, Chips, Facts, Meter, Nothing, Section, Stars, Words, type BadgeTone } from "../parts";
import { Steps } from "./Steps";
import { WorkflowFrame } from "./WorkflowFrame";

const advice: Record<string, BadgeTone> = { recommended: "good", "with care": "warn", "not recommended": "bad" };

/** VendorFinderWorkflowView shows what was found, how they compare, and which one is recommended. */
export default function VendorFinderWorkflowView({ instance, handlers }: { instance: WorkflowInstanceState; handlers: WorkflowHandlers }) {
  const input = fields(instance.input);
  const found = fields(resultOf(instance, "find"));
  const compared = fields(resultOf(instance, "compare"));
  const recommended = fields(resultOf(instance, "recommend"));
  const ranking = records(compared.ranking);
  const vendors = records(found.vendors);
  return (
    <WorkflowFrame instance={instance} handlers={handlers}>
      <Facts
        facts={[
          { name: "Looking for", value: text(input.category, 200) },
          { name: "Where", value: text(input.location, 200) },
        ]}
      />
      {text(recommended.text, 100_000) && (
        <Section title="Recommendation">
          <Prose text={text(recommended.text, 100_000)} />
        </Section>
      )}
      {ranking.length > 0 && (
        <Section title="How they compare" aside={text(compared.summary, 300)}>
          <Capped items={ranking} className="gap-3" render={(v, i) => <Ranked vendor={v} place={i + 1} />} />
        </Section>
      )}
      {ranking.length === 0 && Object.keys(found).length > 0 && (
        <Section title="Found" aside={`${vendors.length}`}>
          {vendors.length === 0 ? <Nothing>No such business was found there.</Nothing> : <Capped items={vendors} className="gap-2" render={(v) => <Vendor vendor={v} />} />}
        </Section>
      )}
      <Section title="Steps">
        <Steps instance={instance} />
      </Section>
    </WorkflowFrame>
  );
}

function Vendor({ vendor }: { vendor: Fields }) {
  const average = number(vendor.average);
  return (
    <article className="rounded-lg border border-border p-3">
      <p className="flex flex-wrap items-baseline gap-2">
        <span dir="auto" className="min-w-0 flex-1 font-medium break-words">{text(vendor.name, 300) || "Without a name"}</span>
        {average !== undefined && (
          <span className="text-[13px]">
            <Stars rating={Math.round(average * 10) / 10} /> {decimal(average)}
          </span>
        )}
      </p>
      <p dir="auto" className="text-[13px] break-words text-muted">
        {[text(vendor.location, 200), text(vendor.phone, 60), number(vendor.reviews) !== undefined ? `${number(vendor.reviews)} reviews` : ""].filter(Boolean).join(" · ")}
      </p>
    </article>
  );
}

function Ranked({ vendor, place }: { vendor: Fields; place: number }) {
  const score = number(vendor.score);
  const says = text(vendor.recommendation, 100);
  const doubtful = number(vendor.doubtful) ?? 0;
  return (
    <article className="rounded-lg border border-border p-3">
      <div className="flex flex-wrap items-center gap-2">
        <span className="text-muted tabular-nums">{place}</span>
        <h4 dir="auto" className="min-w-0 flex-1 font-medium break-words">{text(vendor.name, 300) || "Without a name"}</h4>
        {says && <Badge tone={own(advice, says)}>{says}</Badge>}
      </div>
      {score !== undefined && (
        <div className="my-2 flex items-center gap-2 text-[13px]">
          <Meter value={score / 100} className="flex-1" />
          <span className="tabular-nums">{decimal(score, 0)} of 100</span>
        </div>
      )}
      <Facts
        facts={[
          { name: "Stars", value: number(vendor.average) === undefined ? "" : `${decimal(number(vendor.average))}, ${text(vendor.trend, 60)}` },
          { name: "Praised", value: texts(vendor.strengths).length > 0 && <Chips values={texts(vendor.strengths)} /> },
          { name: "Criticised", value: texts(vendor.concerns).length > 0 && <Chips values={texts(vendor.concerns)} /> },
        ].filter((f) => f.value !== false)}
      />
      {doubtful > 0 && <Words className="mt-1 text-[13px] text-warn">{`${doubtful} ${doubtful === 1 ? "review looks" : "reviews look"} arranged`}</Words>}
    </article>
  );
}
