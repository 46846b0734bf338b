import { ExternalLink } from "lucide-react";
import { useState, type ReactNode } from "react";
import { Button } from "@/components/ui/Button";
import { cn } from "@/lib/cn";
import { address } from "@/lib/workspace/read";

// What the views are made of. All texts in them are strangers': text nodes, each
// with its own direction.

export function View({ children }: { children: ReactNode }) {
  return <div className="flex min-w-0 flex-col gap-5 p-4 text-sm">{children}</div>;
}

export function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section aria-label={title} className="min-w-0">
      <div className="mb-2 flex items-baseline gap-2">
        <h3 dir="auto" className="max-w-full shrink-0 text-[13px] font-semibold break-words">{title}</h3>
        {aside && <span dir="auto" className="min-w-0 text-[13px] break-words text-muted">{aside}</span>}
      </div>
      {children}
    </section>
  );
}

const tones = {
  good: "border-good/40 text-good",
  bad: "border-bad/40 text-bad",
  warn: "border-warn/40 text-warn",
  plain: "border-border text-muted",
};
export type BadgeTone = keyof typeof tones;

export function Badge({ tone = "plain", children }: { tone?: BadgeTone; children: ReactNode }) {
  return <span className={cn("inline-flex w-fit max-w-full items-center gap-1 rounded-full border px-2 py-px text-[13px] break-words [&_svg]:size-3.5", tones[tone])}>{children}</span>;
}

/** Words is a stranger's text, in its own direction. */
export function Words({ children, className }: { children: string; className?: string }) {
  return (
    <p dir="auto" className={cn("min-w-0 break-words whitespace-pre-line", className)}>
      {children}
    </p>
  );
}

export function Chips({ values, label }: { values: string[]; label?: string }) {
  if (values.length === 0) return null;
  return (
    <ul aria-label={label} className="flex flex-wrap gap-1.5">
      {values.slice(0, 200).map((value, i) => (
        <li key={i} dir="auto" className="max-w-full rounded-md border border-border bg-surface px-2 py-0.5 text-[13px] break-words">
          {value}
        </li>
      ))}
      {values.length > 200 && <li className="py-0.5 text-[13px] text-muted">and {values.length - 200} more</li>}
    </ul>
  );
}

/** Listed is a section of names; without any it isn't there. */
export function Listed({ title, values }: { title: string; values: string[] }) {
  if (values.length === 0) return null;
  return (
    <Section title={title}>
      <Chips values={values} />
    </Section>
  );
}

/** Card is one of several things, with its name, and at its right what it is judged as. */
export function Card({ title, badge, children }: { title: string; badge?: ReactNode; children: ReactNode }) {
  return (
    <article className="rounded-lg border border-border p-3">
      <div className="flex items-start gap-2">
        <h4 dir="auto" className="min-w-0 flex-1 font-medium break-words">{title}</h4>
        {badge}
      </div>
      {children}
    </article>
  );
}

/** Meter is a share as a bar; what it says stands beside it as text too. */
export function Meter({ value, tone = "bg-accent", className }: { value: number; tone?: string; className?: string }) {
  return (
    <div aria-hidden="true" className={cn("h-2 overflow-hidden rounded-full bg-raised", className)}>
      <div className={cn("h-full rounded-full", tone)} style={{ width: `${Math.min(1, Math.max(0, value)) * 100}%` }} />
    </div>
  );
}

/** Outside is a link to the web; what can't be one stays text. */
export function Outside({ href, children }: { href: unknown; children: string }) {
  const url = address(href);
  if (!url) return <span dir="auto" className="break-words">{children}</span>;
  return (
    <a dir="auto" href={url} target="_blank" rel="noopener noreferrer nofollow" className="break-words text-accent-ink underline underline-offset-2">
      {children}
      <ExternalLink aria-hidden="true" className="ml-1 inline size-3 align-baseline" />
    </a>
  );
}

/** Capped shows a long list in parts, so that ten thousand entries cost no more than a few. */
export function Capped<T>({ items, step = 50, render, className }: { items: T[]; step?: number; render(item: T, index: number): ReactNode; className?: string }) {
  const [shown, setShown] = useState(step);
  const rest = items.length - shown;
  return (
    <>
      <ul className={cn("flex min-w-0 flex-col", className)}>
        {items.slice(0, shown).map((item, i) => (
          <li key={i} className="min-w-0">
            {render(item, i)}
          </li>
        ))}
      </ul>
      {rest > 0 && (
        <Button size="small" className="mt-3" onClick={() => setShown(shown + step)}>
          Show {Math.min(step, rest)} more of {rest.toLocaleString()}
        </Button>
      )}
    </>
  );
}

export interface Fact {
  name: string;
  value: ReactNode;
}

/** Facts are names and values; those without a value are left out. */
export function Facts({ facts }: { facts: Fact[] }) {
  const there = facts.filter((f) => f.value !== "" && f.value !== undefined && f.value !== null);
  if (there.length === 0) return null;
  return (
    <dl className="grid grid-cols-[minmax(72px,auto)_minmax(0,1fr)] gap-x-4 gap-y-1 text-[13px]">
      {there.map(({ name, value }) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd dir="auto" className="min-w-0 break-words">
            {value}
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function Stars({ rating }: { rating: number }) {
  const n = Math.min(5, Math.max(0, Math.round(rating)));
  return (
    <span role="img" aria-label={`${rating} of 5 stars`} className="tracking-tight whitespace-nowrap text-star">
      {"★".repeat(n)}
      <span className="text-muted">{"☆".repeat(5 - n)}</span>
    </span>
  );
}

export function Nothing({ children }: { children: ReactNode }) {
  return <p className="text-[13px] text-muted">{children}</p>;
}
