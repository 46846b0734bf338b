import { EllipsisVertical, FolderOpen, GitCompare, Diff, RotateCcw } from "lucide-react";
import { IconButton } from "@/components/ui/Button";
import { Menu } from "@/components/ui/Menu";
import { RelativeTime } from "@/components/ui/RelativeTime";
import { Tooltip } from "@/components/ui/Tooltip";
import { cn } from "@/lib/cn";
import { letters } from "./FileTree";
import type { Placed } from "./lanes";
import { counts, stateWords } from "./stateWords";
import type { Mark } from "./tree";
import type { WorkspaceState } from "./workspaceApi";

const signs = { "+": "text-good", "~": "text-warn", "−": "text-bad", "": "text-warn" };

export interface TimelineRowProps {
  state: WorkspaceState;
  place: Placed;
  lanes: number;
  compared: boolean;
  comparing: boolean;
  onChoose(): void;
  onRestore(): void;
  onDiff(): void;
  onCompare(): void;
}

export function TimelineRow({ state, place, lanes, compared, comparing, onChoose, onRestore, onDiff, onCompare }: TimelineRowProps) {
  const { what, detail } = stateWords(state);
  return (
    <li className={cn("flex h-12 items-stretch pr-1", compared ? "bg-raised" : "hover:bg-surface", state.undone && "text-muted")} aria-current={state.active ? "true" : undefined}>
      <Lanes place={place} lanes={lanes} state={state} />
      <Tooltip text={<Changes state={state} detail={detail} />}>
        <button type="button" onClick={onChoose} aria-pressed={comparing ? compared : undefined} className="flex min-w-0 flex-1 flex-col justify-center px-1 text-left outline-offset-[-2px]">
          <span className="flex w-full min-w-0 items-baseline gap-1.5 text-[13px]">
            <span className={cn("shrink-0", state.active && "font-semibold")}>{what}</span>
            {detail && (
              <span className={cn("min-w-0 truncate font-mono text-xs", !state.undone && "text-muted")}>
                <bdi>{detail}</bdi>
              </span>
            )}
          </span>
          <span className="flex w-full min-w-0 items-baseline gap-2 text-xs text-muted">
            <RelativeTime at={state.created_at} className="truncate" />
            {counts(state.changes).map(({ sign, n, word }) => (
              <span key={sign} className={cn("shrink-0 tabular-nums", signs[sign])}>
                <span aria-hidden="true">
                  {sign}
                  {n.toLocaleString("en")}
                  {sign ? "" : ` ${word}`}
                </span>
                <span className="sr-only">
                  {n} {word}
                </span>
              </span>
            ))}
            {state.active && <span className="shrink-0 text-accent-ink">now</span>}
            {state.undone && <span className="shrink-0">undone</span>}
            {!state.complete && <span className="shrink-0 text-warn">not all of it is kept</span>}
          </span>
        </button>
      </Tooltip>
      {!comparing && (
        <div className="flex shrink-0 items-center">
          {!state.active && (
            <IconButton label="Bring this state back" onClick={onRestore}>
              <RotateCcw />
            </IconButton>
          )}
          <Menu
            items={[
              { label: "What it changed", icon: <Diff />, onSelect: onDiff },
              { label: "Compare with another state", icon: <GitCompare />, onSelect: onCompare },
              { label: "The files as they were", icon: <FolderOpen />, onSelect: onChoose },
              ...(state.active ? [] : [{ label: "Bring this state back", icon: <RotateCcw />, onSelect: onRestore }]),
            ]}
          >
            {/* A trigger of two kinds, so the name is its own and no tooltip. */}
            <button type="button" aria-label={`More about ${what} ${detail}`.trim()} className="inline-flex size-8 shrink-0 items-center justify-center rounded-md text-muted hover:bg-raised hover:text-ink">
              <EllipsisVertical className="size-4" />
            </button>
          </Menu>
        </div>
      )}
    </li>
  );
}

/** Changes is what is seen of a state where it is hovered or has the focus. */
function Changes({ state, detail }: { state: WorkspaceState; detail: string }) {
  const { changes } = state;
  const all = changes?.changed ?? 0;
  const paths = changes?.paths.slice(0, 12) ?? [];
  return (
    <div className="flex flex-col gap-0.5">
      {detail.length > 30 && <p className="mb-1 line-clamp-4 font-mono text-xs break-all">{detail}</p>}
      {changes && all === 0 && <p className="text-muted">No file changed</p>}
      {paths.map(({ path, kind }) => {
        const mark = letters[kind as Mark];
        return (
          <p key={path} className="flex gap-2 font-mono text-xs">
            <span className={mark?.look}>{mark?.letter ?? kind}</span>
            <bdi className="min-w-0 break-all">{path}</bdi>
          </p>
        );
      })}
      {all > paths.length && <p className="text-xs text-muted">and {(all - paths.length).toLocaleString("en")} more</p>}
      <p className="text-xs text-muted">
        {state.file_count.toLocaleString("en")} {state.file_count === 1 ? "file" : "files"}
      </p>
    </div>
  );
}

const laneWidth = 14;
const height = 48;

/** Lanes draws the dot of a state, and the lines of the branches that pass it. */
function Lanes({ place, lanes, state }: { place: Placed; lanes: number; state: WorkspaceState }) {
  const x = (lane: number) => 14 + lane * laneWidth;
  const dot = x(place.lane);
  const mid = height / 2;
  const line = "stroke-muted opacity-60";
  return (
    <svg width={20 + lanes * laneWidth} height={height} aria-hidden="true" className="shrink-0 fill-none" strokeWidth="2">
      {place.through.map((lane) => (
        <path key={lane} className={line} d={`M${x(lane)} 0V${height}`} strokeDasharray={lane > 0 ? "3 3" : undefined} />
      ))}
      {place.up && <path className={line} d={`M${dot} 0V${mid}`} strokeDasharray={place.lane > 0 ? "3 3" : undefined} />}
      {place.down && <path className={line} d={`M${dot} ${mid}V${height}`} strokeDasharray={place.lane > 0 ? "3 3" : undefined} />}
      {place.joins.map((lane) => (
        <path key={lane} className={line} d={`M${x(lane)} 0C${x(lane)} ${mid} ${x(lane)} ${mid} ${dot} ${mid}`} strokeDasharray="3 3" />
      ))}
      <circle
        cx={dot}
        cy={mid}
        r={state.active ? 6 : 4.5}
        className={state.active ? "fill-accent stroke-accent" : state.undone ? "fill-bg stroke-muted" : "fill-muted stroke-muted"}
      />
    </svg>
  );
}
