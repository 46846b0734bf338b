import type { Agent } from "@/lib/api/client";
import { bareId, handoffsOf } from "./handoffs";

const row = 40;
const box = { width: 132, height: 28 };

/** AgentGraph draws who hands over to whom: agents below each other, handoffs down on the right and back up on the left. */
export function AgentGraph({ agents, chosen }: { agents: Agent[]; chosen: string }) {
  const arrows = handoffsOf(agents);
  if (arrows.length === 0) return null;
  // Each arrow has a lane of its own, so that they can be told apart.
  const down = arrows.filter((a) => a.to > a.from);
  const up = arrows.filter((a) => a.to < a.from);
  const left = 16 + up.length * 12;
  const width = left + box.width + 16 + down.length * 12;
  const height = agents.length * row;
  const middle = (i: number) => i * row + row / 2;
  const name = (i: number) => agents[i]?.name || bareId(agents[i]?.id ?? "");

  return (
    <svg
      role="img"
      aria-label={"Handoffs: " + arrows.map((a) => `${name(a.from)} to ${name(a.to)}`).join(", ")}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      className="max-w-full"
    >
      {arrows.map((arrow) => {
        const right = arrow.to > arrow.from;
        const lane = (right ? down : up).indexOf(arrow) + 1;
        const edge = right ? left + box.width : left;
        const bend = right ? edge + 8 + lane * 12 : edge - 8 - lane * 12;
        const y1 = middle(arrow.from) + (right ? 6 : -6);
        const y2 = middle(arrow.to) - (right ? 6 : -6);
        const tip = right ? 5 : -5;
        return (
          <g key={`${arrow.from}-${arrow.to}`} className="text-muted">
            <path d={`M${edge} ${y1} H${bend} V${y2} H${edge + tip}`} fill="none" stroke="currentColor" strokeLinejoin="round" />
            <path d={`M${edge} ${y2} l${tip} -3.5 v7 z`} fill="currentColor" />
          </g>
        );
      })}
      {agents.map((agent, i) => (
        <g key={agent.id}>
          <rect
            x={left}
            y={middle(i) - box.height / 2}
            width={box.width}
            height={box.height}
            rx={6}
            className={agent.id === chosen ? "fill-surface stroke-accent" : "fill-surface stroke-muted"}
          />
          <text x={left + box.width / 2} y={middle(i) + 4} textAnchor="middle" className="fill-ink text-[13px]">
            {cut(name(i), 17)}
          </text>
        </g>
      ))}
    </svg>
  );
}

function cut(text: string, length: number): string {
  return text.length > length ? text.slice(0, length - 1) + "…" : text;
}
