import { ChevronRight, Download } from "lucide-react";
import { useId, useRef } from "react";
import { Button } from "@/components/ui/Button";
import { download, fileName } from "@/lib/download";
import { dataOf } from "@/lib/workspace/payload";
import { fields, number, own, records, text, texts, type Fields } from "@/lib/workspace/read";
import type { WorkspacePayload } from "@/types/chat";
import { Badge, Capped, Nothing, Outside, Section, View, Words, type BadgeTone } from "./parts";
import { Prose } from "./LongText";
import { sourceName } from "./ResearchWorkflowView";
import { useUI } from "@/lib/ui";

const strengths: Record<string, { tone: BadgeTone; says: string }> = {
  none: { tone: "bad", says: "nothing found" },
  thin: { tone: "warn", says: "one source" },
  some: { tone: "plain", says: "two sources" },
  strong: { tone: "good", says: "three sources or more" },
};

/** ResearchResultView is what research found: by aspect, each passage with its source. */
export default function ResearchResultView({ payload }: { payload: WorkspacePayload }) {
  const data = fields(dataOf(payload));
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const findings = records(data.findings);
  const sources = records(data.sources);
  const report = text(data.report ?? data.synthesis ?? data.answer, 2_000_000);
  const problems = records(data.problems);
  const question = text(data.question ?? data.query);
  // A number in the text leads to its source.
  const show = (n: number) => root.current?.querySelector<HTMLElement>(`[data-source="${n}"]`)?.focus();
  return (
    <div ref={root}>
      <View>
        {question && question !== payload.title.replace(/^Research: /, "") && <Words className="text-[15px] font-medium">{question}</Words>}
        {(text(data.summary) || payload.content) && <Prose text={text(data.summary, 100_000) || payload.content} />}
        {texts(data.gaps).length > 0 && (
          <Section title="Nothing was found on">
            <ul className="list-disc pl-5">
              {texts(data.gaps).slice(0, 50).map((gap, i) => (
                <li key={i} dir="auto">{gap}</li>
              ))}
            </ul>
          </Section>
        )}
        {findings.length > 0 && (
          <Section title="Findings">
            <Capped items={findings} className="gap-4" step={20} render={(f) => <Finding finding={f} onSource={show} />} />
          </Section>
        )}
        {sources.length > 0 && (
          <Section title="Sources" aside={number(data.read) === undefined ? undefined : `${sources.length} of ${number(data.read)} that were read`}>
            <Capped items={sources} className="gap-2" render={(s, i) => <Source source={s} place={i + 1} id={id} />} />
          </Section>
        )}
        {problems.length > 0 && (
          <Section title="Not asked">
            <ul className="flex flex-col gap-1">
              {problems.slice(0, 20).map((p, i) => (
                <li key={i} dir="auto" className="break-words text-warn">
                  {sourceName(text(p.source, 100))}: {text(p.problem)}
                </li>
              ))}
            </ul>
          </Section>
        )}
        {report && <Report title={payload.title} report={report} path={text(data.output, 300)} />}
        {findings.length === 0 && sources.length === 0 && !report && !payload.content && <Nothing>The result is empty.</Nothing>}
      </View>
    </div>
  );
}

function Finding({ finding, onSource }: { finding: Fields; onSource(n: number): void }) {
  const strength = text(finding.strength, 60);
  const known = own(strengths, strength);
  const evidence = records(finding.evidence);
  return (
    <article>
      <div className="flex flex-wrap items-center gap-2">
        <h4 dir="auto" className="min-w-0 font-medium break-words">{text(finding.aspect ?? finding.title) || "Finding"}</h4>
        {strength && <Badge tone={known?.tone}>{known?.says ?? strength}</Badge>}
      </div>
      {text(finding.summary ?? finding.text) && <Words className="mt-1">{text(finding.summary ?? finding.text)}</Words>}
      {evidence.slice(0, 30).map((e, i) => {
        const n = number(e.citation);
        return (
          <blockquote key={i} className="mt-2 border-l-2 border-border pl-3">
            <Words className="text-muted">{text(e.text ?? e.quote)}</Words>
            {n !== undefined && (
              <button type="button" onClick={() => onSource(n)} aria-label={`Source ${n}`} className="text-[13px] text-accent-ink hover:underline">
                [{n}]
              </button>
            )}
          </blockquote>
        );
      })}
    </article>
  );
}

function Source({ source, place, id }: { source: Fields; place: number; id: string }) {
  const n = number(source.number) ?? place;
  const where = text(source.address ?? source.url, 2_048);
  const kind = text(source.source, 100);
  const title = text(source.title, 500) || where || "Without a title";
  return (
    <div id={`${id}-${n}`} data-source={n} tabIndex={-1} className="flex gap-2 rounded">
      <span className="w-6 shrink-0 text-right text-muted tabular-nums">{n}</span>
      <div className="min-w-0">
        {kind === "workspace" && where ? (
          <button type="button" onClick={() => useUI.getState().select({ kind: "file", path: where })} className="text-left break-words text-accent-ink underline underline-offset-2">
            {title}
          </button>
        ) : (
          <Outside href={where}>{title}</Outside>
        )}
        <p className="text-[13px] break-all text-muted">{[kind && sourceName(kind), where].filter(Boolean).join(", ")}</p>
      </div>
    </div>
  );
}

function Report({ title, report, path }: { title: string; report: string; path: string }) {
  return (
    <details className="group rounded-md border border-border">
      <summary className="flex cursor-pointer list-none items-center gap-2 px-3 py-2 text-[13px] font-semibold">
        <ChevronRight aria-hidden="true" className="size-4 transition-transform group-open:rotate-90" />
        The report
        <span className="min-w-0 truncate font-mono font-normal text-muted">{path}</span>
      </summary>
      <div className="border-t border-border p-3">
        <Button size="small" className="mb-3" onClick={() => download(fileName(title || "research", "md"), report, "text/markdown")}>
          <Download className="size-3.5" aria-hidden="true" />
          Download
        </Button>
        <Prose text={report} />
      </div>
    </details>
  );
}
