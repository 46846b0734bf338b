import { decimal, number, text, type Fields } from "@/lib/workspace/read";

const width = 360;
const height = 72;
const pad = 8;

/** TrendLine is how the stars of a business went, quarter by quarter. */
export function TrendLine({ periods }: { periods: Fields[] }) {
  const points = periods.slice(-60).flatMap((p) => {
    const average = number(p.average);
    return average === undefined ? [] : [{ period: text(p.period, 40), average: Math.min(5, Math.max(1, average)) }];
  });
  const first = points[0];
  const last = points[points.length - 1];
  if (!first || !last || points.length < 2) return null;
  const x = (i: number) => pad + (i * (width - 2 * pad)) / (points.length - 1);
  const y = (average: number) => height - pad - ((average - 1) / 4) * (height - 2 * pad);
  const label = `Stars from ${first.period} to ${last.period}: ${points.map((p) => `${p.period} ${decimal(p.average)}`).join(", ")}`;
  return (
    <figure className="max-w-md">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label} className="w-full">
        {[1, 3, 5].map((stars) => (
          <line key={stars} x1={pad} x2={width - pad} y1={y(stars)} y2={y(stars)} className="stroke-border" />
        ))}
        <polyline points={points.map((p, i) => `${x(i)},${y(p.average)}`).join(" ")} fill="none" strokeWidth="2" className="stroke-accent" />
        {points.map((p, i) => (
          <circle key={i} cx={x(i)} cy={y(p.average)} r="3" className="fill-accent">
            <title>{`${p.period}: ${decimal(p.average)}`}</title>
          </circle>
        ))}
      </svg>
      <figcaption className="flex justify-between text-[13px] text-muted">
        <span>{first.period}, {decimal(first.average)}</span>
        <span>{last.period}, {decimal(last.average)}</span>
      </figcaption>
    </figure>
  );
}
