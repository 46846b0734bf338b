import { decimal, fields, number, records, share, text } from "@/lib/workspace/read";
import { Badge, Facts, Meter, Stars, Words } from "./parts";

/** Business is who is reviewed, and whether all this is invented. */
export function Business({ business }: { business: unknown }) {
  const b = fields(business);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Facts
        facts={[
          { name: "Business", value: text(b.name, 300) },
          { name: "Where", value: text(b.location, 300) },
          { name: "Kind", value: text(b.category, 100) },
          { name: "Reviews of", value: text(b.source, 100) },
        ]}
      />
      {b.sample === true && <Badge tone="warn">Sample data: business and reviews are invented</Badge>}
    </div>
  );
}

/** Distribution is how many gave how many stars. With onPick a row chooses them. */
export function Distribution({ distribution, picked, onPick }: { distribution: unknown; picked?: number | null; onPick?: (stars: number | null) => void }) {
  const rows = records(distribution).flatMap((d) => {
    const stars = number(d.stars);
    return stars === undefined ? [] : [{ stars, count: Math.max(0, number(d.count) ?? 0) }];
  });
  const total = rows.reduce((sum, r) => sum + r.count, 0);
  if (total === 0) return null;
  return (
    <ul className="flex max-w-md flex-col gap-1 text-[13px]">
      {rows.slice(0, 10).map(({ stars, count }) => {
        const line = (
          <>
            <span className="w-12 text-left">{stars} star{stars === 1 ? "" : "s"}</span>
            <Meter value={count / total} className="flex-1" tone="bg-star" />
            <span className="w-8 text-right text-muted tabular-nums">{count}</span>
          </>
        );
        return (
          <li key={stars}>
            {onPick ? (
              <button
                type="button"
                aria-pressed={picked === stars}
                onClick={() => onPick(picked === stars ? null : stars)}
                className="flex w-full items-center gap-2 rounded px-1 hover:bg-raised aria-pressed:bg-raised"
              >
                {line}
              </button>
            ) : (
              <div className="flex items-center gap-2 px-1">{line}</div>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** Average is the mean of the stars, and of how many. */
export function Average({ average, total }: { average: unknown; total: unknown }) {
  const mean = number(average);
  if (mean === undefined) return null;
  return (
    <p className="flex items-baseline gap-2">
      <span className="text-2xl font-semibold tabular-nums">{decimal(mean)}</span>
      <Stars rating={Math.round(mean * 10) / 10} />
      {number(total) !== undefined && <span className="text-[13px] text-muted">{decimal(number(total), 0)} reviews</span>}
    </p>
  );
}

/** Review is one review as it was written. */
export function Review({ review }: { review: unknown }) {
  const r = fields(review);
  const rating = number(r.rating ?? r.stars);
  return (
    <article className="border-b border-border pb-3">
      <p className="flex flex-wrap items-baseline gap-x-2 text-[13px] text-muted">
        {rating !== undefined && <Stars rating={rating} />}
        <span dir="auto" className="break-words">{[text(r.author, 200) || "Without a name", text(r.date, 60), text(r.source, 60)].filter(Boolean).join(" · ")}</span>
      </p>
      <Words className="mt-1">{text(r.text ?? r.content, 20_000) || "Without words"}</Words>
    </article>
  );
}

export function shareText(value: unknown): string {
  const s = share(value);
  return s === undefined ? "" : `${Math.round(s * 100)} %`;
}
