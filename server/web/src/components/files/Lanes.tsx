import { cn } from "@/lib/cn";
import { mostLanes, type Line, type Placed } from "./lanes";
import type { WorkspaceState } from "./workspaceApi";

/** rowHeight is that of a state in the timeline, which its lines cross. */
export const rowHeight = 48;

const laneWidth = 14;
const middle = rowHeight / 2;

/** Lanes draws the dot of a state, and the lines of the branches that pass it. */
export function Lanes({ place, width, state }: { place: Placed; width: number; state: WorkspaceState }) {
  const x = (lane: number) => 14 + Math.min(lane, mostLanes - 1) * laneWidth;
  const dot = x(place.lane);
  const line = ({ lane, dashed }: Line, d: string) => (
    <path key={lane} d={d} className={lane === 0 ? "stroke-muted" : "stroke-muted opacity-60"} strokeDasharray={dashed ? "3 3" : undefined} />
  );
  return (
    <svg width={20 + width * laneWidth} height={rowHeight} aria-hidden="true" className="shrink-0 fill-none" strokeWidth="2">
      {place.through.map((l) => line(l, `M${x(l.lane)} 0V${rowHeight}`))}
      {place.up && line(place.up, `M${dot} 0V${middle}`)}
      {place.down && line(place.down, `M${dot} ${middle}V${rowHeight}`)}
      {place.joins.map((l) => line(l, `M${x(l.lane)} 0C${x(l.lane)} ${middle} ${x(l.lane)} ${middle} ${dot} ${middle}`))}
      <circle
        cx={dot}
        cy={middle}
        r={state.active ? 6 : 4.5}
        className={cn(state.active ? "fill-accent stroke-accent" : state.undone ? "fill-bg stroke-muted" : "fill-muted stroke-muted")}
      />
    </svg>
  );
}
