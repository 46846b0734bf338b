import { fields, list, own, pretty, records, text, texts, words, type Fields } from "@/lib/workspace/read";
import { Badge, Capped, Card, Chips, Facts, Listed, Nothing, Section, View, Words, type BadgeTone } from "../parts";

// Document 001's payloads of a model: proposals, to be accepted or rejected.

const confidence: Record<string, BadgeTone> = { high: "good", medium: "plain", low: "warn" };

/** Value is a field of any form, as one reads it. */
function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined || value === "") return <Nothing>Nothing</Nothing>;
  if (Array.isArray(value) && value.every((v) => typeof v !== "object")) return value.length === 0 ? <Nothing>Nothing</Nothing> : <Chips values={texts(value)} />;
  if (typeof value === "object") return <pre className="overflow-x-auto rounded-md bg-surface p-2 font-mono text-[13px]">{pretty(value).slice(0, 4_000)}</pre>;
  return <Words>{text(value)}</Words>;
}

/** SchemaProposalCard is a change of fields (schema_proposal). */
export function SchemaProposalCard({ data }: { data: unknown }) {
  const d = fields(data);
  const changes = Object.entries(fields(d.proposed_changes)).slice(0, 60);
  const sure = text(d.confidence, 60);
  return (
    <View>
      {text(d.reasoning) && <Words>{text(d.reasoning)}</Words>}
      {sure && (
        <p>
          <Badge tone={own(confidence, sure)}>{words(sure)} confidence</Badge>
        </p>
      )}
      {changes.length === 0 && <Nothing>No change is proposed.</Nothing>}
      {changes.map(([name, value]) => (
        <Section key={name} title={words(name)}>
          <Value value={value} />
        </Section>
      ))}
    </View>
  );
}

/** found are the entries of a list of faults, each an object or a sentence. */
function found(value: unknown, status: string): Fields[] {
  return list(value).map((v) => (typeof v === "object" ? { status, ...fields(v) } : { status, area: words(status), message: text(v) }));
}

const results: Record<string, BadgeTone> = { pass: "good", valid: "good", warning: "warn", fail: "bad", "not valid": "bad" };

/** ValidationResultsCard is what a check found (validation_results). */
export function ValidationResultsCard({ data }: { data: unknown }) {
  const d = fields(data);
  // A toolset's check names its areas; fettle's own instruction asks for issues alone, and
  // others list errors and warnings, as objects or as sentences.
  const checks = [...records(d.checks ?? d.results ?? d.issues), ...found(d.errors, "fail"), ...found(d.warnings, "warning")];
  const overall = text(d.overall, 60) || (d.valid === true ? "valid" : d.valid === false ? "not valid" : "");
  return (
    <View>
      {overall && (
        <p>
          <Badge tone={own(results, overall)}>{words(overall)}</Badge>
        </p>
      )}
      {text(d.summary) && <Words>{text(d.summary)}</Words>}
      <Capped
        items={checks}
        className="gap-3"
        render={(c) => (
          <Card
            title={words(text(c.area ?? c.name ?? c.field, 200)) || "Check"}
            badge={c.problem === undefined && <Badge tone={own(results, text(c.status, 60))}>{words(text(c.status, 60)) || "Not said"}</Badge>}
          >
            <Words className="mt-1">{text(c.message ?? c.problem)}</Words>
            {text(c.suggestion) && <Words className="mt-1 text-muted">{text(c.suggestion)}</Words>}
          </Card>
        )}
      />
    </View>
  );
}

/** PresentationCategoriesCard is a grouping (presentation_categories). */
export function PresentationCategoriesCard({ data }: { data: unknown }) {
  const d = fields(data);
  const categories = records(d.categories ?? data);
  return (
    <View>
      {text(d.reasoning) && <Words>{text(d.reasoning)}</Words>}
      {categories.length === 0 && <Nothing>There are no categories in it.</Nothing>}
      <Capped items={categories} className="gap-3" render={(c) => <Category category={c} />} />
    </View>
  );
}

function Category({ category }: { category: Fields }) {
  return (
    <Card title={text(category.name ?? category.id, 200) || "Without a name"}>
      {text(category.description) && <Words className="mt-1 text-muted">{text(category.description)}</Words>}
      <div className="mt-2">
        <Chips values={texts(category.topics)} label="Topics" />
      </div>
      {texts(category.specific_inclusions).length > 0 && <Words className="mt-2 text-[13px] text-muted">{`Also: ${texts(category.specific_inclusions).join("; ")}`}</Words>}
    </Card>
  );
}

/** StreamTemplateCard is a whole stream (stream_template). */
export function StreamTemplateCard({ data }: { data: unknown }) {
  const d = fields(data);
  const space = fields(d.semantic_space);
  const topics = records(space.topics ?? d.topics);
  const queries = records(fields(d.retrieval_config).queries);
  return (
    <View>
      <Facts
        facts={[
          { name: "Name", value: text(d.stream_name, 300) },
          { name: "Purpose", value: text(d.purpose) },
          { name: "Reports", value: words(text(d.report_frequency, 60)) },
          { name: "Field", value: text(space.domain) },
        ]}
      />
      {topics.length > 0 && (
        <Section title="Topics">
          <Capped
            items={topics}
            className="gap-2"
            render={(t) => (
              <div>
                <p className="flex flex-wrap items-center gap-2">
                  <span dir="auto" className="break-words">{text(t.name, 200)}</span>
                  {text(t.importance) && <Badge tone={t.importance === "critical" ? "warn" : "plain"}>{text(t.importance, 60)}</Badge>}
                </p>
                {text(t.description) && <Words className="text-[13px] text-muted">{text(t.description)}</Words>}
              </div>
            )}
          />
        </Section>
      )}
      <Listed
        title="Entities"
        values={list(space.entities).map((e) => (typeof e === "string" ? text(e, 200) : [text(fields(e).name, 200), text(fields(e).entity_type, 60)].filter(Boolean).join(", ")))}
      />
      <Criteria title="Belongs to it" values={texts(space.inclusion_criteria)} />
      <Criteria title="Does not belong to it" values={texts(space.exclusion_criteria)} />
      {queries.length > 0 && (
        <Section title="Queries">
          <Capped
            items={queries}
            className="gap-2"
            render={(q) => (
              <div>
                <p dir="auto" className="break-words">{[text(q.name, 200), text(q.source, 60)].filter(Boolean).join(", ")}</p>
                <p className="font-mono text-[13px] break-words text-muted">{text(q.query)}</p>
              </div>
            )}
          />
        </Section>
      )}
      {records(fields(d.presentation_config).categories).length > 0 && (
        <Section title="Headings of a report">
          <Capped items={records(fields(d.presentation_config).categories)} className="gap-3" render={(c) => <Category category={c} />} />
        </Section>
      )}
    </View>
  );
}

function Criteria({ title, values }: { title: string; values: string[] }) {
  if (values.length === 0) return null;
  return (
    <Section title={title}>
      <ul className="list-disc pl-5">
        {values.slice(0, 100).map((v, i) => (
          <li key={i} dir="auto" className="break-words">{v}</li>
        ))}
      </ul>
    </Section>
  );
}

/** QuickSetupCard is a stream in a few lines (quick_setup). */
export function QuickSetupCard({ data }: { data: unknown }) {
  const d = fields(data);
  return (
    <View>
      <Facts
        facts={[
          { name: "Name", value: text(d.stream_name, 300) },
          { name: "Follows", value: text(d.subject ?? d.topic) },
          { name: "Reports", value: words(text(d.report_frequency, 60)) },
          { name: "First query", value: text(d.first_query) && <span className="font-mono">{text(d.first_query)}</span> },
        ]}
      />
      <Listed title="Topics" values={texts(d.topics)} />
    </View>
  );
}

const kinds: Record<string, BadgeTone> = { gap: "warn", risk: "bad", strength: "good", overlap: "plain" };

/** noted are the insights of one kind, each an object or a sentence. */
function noted(value: unknown, kind: string): Fields[] {
  return list(value).map((v) => (typeof v === "object" ? { kind, ...fields(v) } : { kind, title: text(v) }));
}

/** PortfolioInsightsCard is what stands out of all streams (portfolio_insights). */
export function PortfolioInsightsCard({ data }: { data: unknown }) {
  const d = fields(data);
  const insights = [...records(d.insights ?? d.findings), ...noted(d.gaps, "gap"), ...noted(d.overlaps, "overlap"), ...noted(d.strengths, "strength"), ...noted(d.risks, "risk")];
  return (
    <View>
      {text(d.summary) && <Words>{text(d.summary)}</Words>}
      {insights.length === 0 && <Nothing>There are no insights in it.</Nothing>}
      <Capped
        items={insights}
        className="gap-3"
        render={(i) => (
          <Card title={text(i.title, 300) || "Insight"} badge={text(i.kind) && <Badge tone={own(kinds, text(i.kind, 60))}>{words(text(i.kind, 60))}</Badge>}>
            <Words className="mt-1">{text(i.description ?? i.detail)}</Words>
            {text(i.recommendation) && <Words className="mt-1 text-muted">{text(i.recommendation)}</Words>}
            <div className="mt-2">
              <Chips values={texts(i.streams)} label="Streams" />
            </div>
          </Card>
        )}
      />
    </View>
  );
}
