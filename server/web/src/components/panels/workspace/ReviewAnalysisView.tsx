import { ChevronRight } from "lucide-react";
import { dataOf } from "@/lib/workspace/payload";
import { decimal, fields, number, own, records, text, texts, type Fields } from "@/lib/workspace/read";
import type { WorkspacePayload } from "@/types/chat";
import { Badge, Capped, Meter, Nothing, Section, Stars, View, Words, type BadgeTone } from "./parts";
import { Average, Business, Distribution, shareText } from "./reviews";
import { TrendLine } from "./TrendLine";

const advice: Record<string, BadgeTone> = { recommended: "good", "with care": "warn", "not recommended": "bad" };
const trends: Record<string, BadgeTone> = { rising: "good", falling: "bad" };

/** ReviewAnalysisView is a judgement of a business by its reviews, and what it rests on. */
export default function ReviewAnalysisView({ payload }: { payload: WorkspacePayload }) {
  const data = fields(dataOf(payload));
  const verdict = fields(data.verdict);
  const look = fields(data.overview);
  const score = number(verdict.score);
  const recommendation = text(verdict.recommendation, 100);
  const trend = text(look.trend, 60);
  const trust = fields(data.credibility);
  return (
    <View>
      <Business business={data.business} />
      <div className="flex flex-wrap items-center gap-x-6 gap-y-3">
        {score !== undefined && (
          <p>
            <span className="text-3xl font-semibold tabular-nums">{decimal(score, 0)}</span>
            <span className="text-muted"> of 100</span>
          </p>
        )}
        {recommendation && <Badge tone={own(advice, recommendation)}>{recommendation}</Badge>}
        {trend && <Badge tone={own(trends, trend)}>{trend}{number(look.recent_average) !== undefined && `, ${decimal(number(look.recent_average))} lately`}</Badge>}
      </div>
      <Words>{text(verdict.summary) || payload.content.slice(0, 4_000)}</Words>
      <div className="grid gap-4 sm:grid-cols-2">
        <Named title="Praised for" names={texts(verdict.strengths)} tone="good" />
        <Named title="Criticised for" names={texts(verdict.concerns)} tone="bad" />
      </div>
      <Section title="Stars" aside={[text(look.first, 40), text(look.last, 40)].filter(Boolean).join(" to ")}>
        <div className="flex flex-col gap-3">
          <Average average={look.average} total={look.total} />
          <Distribution distribution={look.distribution} />
          <TrendLine periods={records(look.periods)} />
        </div>
      </Section>
      <Trust trust={trust} />
      <Themes title="What people criticise" part={fields(data.negative)} tone="bg-bad" />
      <Themes title="What people praise" part={fields(data.positive)} tone="bg-good" />
      {texts(verdict.questions).length > 0 && (
        <Section title="Worth asking">
          <ul className="list-disc pl-5">
            {texts(verdict.questions).slice(0, 30).map((q, i) => (
              <li key={i} dir="auto" className="break-words">{q}</li>
            ))}
          </ul>
        </Section>
      )}
    </View>
  );
}

function Named({ title, names, tone }: { title: string; names: string[]; tone: BadgeTone }) {
  if (names.length === 0) return null;
  return (
    <Section title={title}>
      <p className="flex flex-wrap gap-1.5">
        {names.slice(0, 20).map((name, i) => (
          <Badge key={i} tone={tone}>{name}</Badge>
        ))}
      </p>
    </Section>
  );
}

function Trust({ trust }: { trust: Fields }) {
  const doubtful = number(trust.doubtful);
  if (doubtful === undefined) return null;
  return (
    <Section title="Can they be believed?">
      {doubtful === 0 ? (
        <Nothing>Nothing looks arranged.</Nothing>
      ) : (
        <>
          <p>
            {doubtful} {doubtful === 1 ? "review looks" : "reviews look"} arranged
            {number(trust.average_without) !== undefined && `; without them it is ${decimal(number(trust.average_without))} stars`}.
          </p>
          <ul className="mt-1 list-disc pl-5 text-[13px] text-muted">
            {texts(trust.signs).slice(0, 30).map((sign, i) => (
              <li key={i} dir="auto" className="break-words">{sign}</li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}

function Themes({ title, part, tone }: { title: string; part: Fields; tone: string }) {
  const themes = records(part.themes);
  if (themes.length === 0) return null;
  return (
    <Section title={title} aside={number(part.count) === undefined ? undefined : `in ${number(part.count)} reviews`}>
      <Capped items={themes} className="gap-1" render={(theme) => <Theme theme={theme} tone={tone} />} />
    </Section>
  );
}

function Theme({ theme, tone }: { theme: Fields; tone: string }) {
  const quotes = records(theme.quotes);
  return (
    <details className="group">
      <summary className="flex cursor-pointer list-none items-center gap-2 rounded py-1 hover:bg-raised">
        <ChevronRight aria-hidden="true" className="size-4 shrink-0 text-muted transition-transform group-open:rotate-90" />
        <span dir="auto" className="w-36 shrink-0 truncate">{text(theme.theme, 200) || "Other"}</span>
        <Meter value={number(theme.share) ?? 0} className="flex-1" tone={tone} />
        <span className="w-24 shrink-0 text-right text-[13px] text-muted tabular-nums">
          {number(theme.count) ?? quotes.length} · {shareText(theme.share)}
        </span>
      </summary>
      <div className="mb-2 ml-6 flex flex-col gap-2 border-l-2 border-border pl-3">
        {quotes.length === 0 && <Nothing>No words are quoted.</Nothing>}
        {quotes.slice(0, 20).map((q, i) => (
          <blockquote key={i}>
            <Words>{`“${text(q.text)}”`}</Words>
            <p className="text-[13px] text-muted">
              {number(q.rating) !== undefined && <Stars rating={number(q.rating) ?? 0} />} {text(q.date, 60)}
            </p>
          </blockquote>
        ))}
      </div>
    </details>
  );
}
