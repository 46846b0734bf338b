import { Diff, EllipsisVertical, FolderOpen, GitBranch, GitCompare, RotateCcw } from "lucide-react";
import { IconButton } from "@/components/ui/Button";
import { Menu } from "@/components/ui/Menu";
import { RelativeTime } from "@/components/ui/RelativeTime";
import { Tooltip } from "@/components/ui/Tooltip";
import { cn } from "@/lib/cn";
import { letters } from "./FileTree";
import { Lanes } from "./Lanes";
import type { Placed } from "./lanes";
import { branchName, counts, stateWords } from "./stateWords";
import type { Mark } from "./tree";
import type { Branch, WorkspaceState } from "./workspaceApi";

const signs = { "+": "text-good", "~": "text-warn", "−": "text-bad", "": "text-warn" };

export interface TimelineRowProps {
  state: WorkspaceState;
  place: Placed;
  /** lanes that all rows have room for */
  width: number;
  index: number;
  top: number;
  /** Tab leads to this row */
  reached: boolean;
  /** the state that it came from, where that isn't the one below */
  from?: string;
  /** another branch of the chat, which ended with it */
  branch?: Branch;
  compared: boolean;
  comparing: boolean;
  onChoose(): void;
  onRestore(): void;
  onDiff(): void;
  onCompare(): void;
  onSwitch?: () => void;
}

export function TimelineRow({ state, place, width, index, top, reached, from, branch, compared, comparing, onChoose, onRestore, onDiff, onCompare, onSwitch }: TimelineRowProps) {
  const { what, detail } = stateWords(state);
  const restore = !state.active && !comparing;
  const cell = (column: number) => ({ tabIndex: reached && column === 0 ? 0 : -1, "data-row": index, "data-column": column });
  return (
    <div
      role="row"
      aria-rowindex={index + 1}
      aria-current={state.active ? "true" : undefined}
      style={{ transform: `translateY(${top}px)` }}
      className={cn("absolute top-0 left-0 flex h-12 w-full items-stretch pr-1", compared ? "bg-raised" : "hover:bg-surface", state.undone && "text-muted")}
    >
      <Lanes place={place} width={width} state={state} />
      <div role="gridcell" className="flex min-w-0 flex-1">
        <Tooltip text={<Changes state={state} detail={detail} from={from} branch={branch} />}>
          <button type="button" {...cell(0)} onClick={onChoose} aria-pressed={comparing ? compared : undefined} className="flex min-w-0 flex-1 flex-col justify-center px-1 text-left outline-offset-[-2px]">
            <span className="flex w-full min-w-0 items-baseline gap-1.5 text-[13px]">
              <span className={cn("shrink-0", state.active && "font-semibold")}>{what}</span>
              {detail && (
                <span className={cn("min-w-0 truncate font-mono text-xs", !state.undone && "text-muted")}>
                  <bdi>{detail}</bdi>
                </span>
              )}
            </span>
            <Facts state={state} branch={branch} from={from} aside={place.lane > 0 && !state.undone} />
          </button>
        </Tooltip>
      </div>
      {!comparing && (
        <div role="gridcell" className="flex shrink-0 items-center">
          {restore && (
            <IconButton label="Bring this state back" {...cell(1)} onClick={onRestore}>
              <RotateCcw />
            </IconButton>
          )}
          <Menu
            items={[
              { label: "What it changed", icon: <Diff />, onSelect: onDiff },
              { label: "Compare with another state", icon: <GitCompare />, onSelect: onCompare },
              { label: "The files as they were", icon: <FolderOpen />, onSelect: onChoose },
              ...(onSwitch ? [{ label: "Go on in this branch", icon: <GitBranch />, onSelect: onSwitch }] : []),
              ...(restore ? [{ label: "Bring this state back", icon: <RotateCcw />, onSelect: onRestore }] : []),
            ]}
          >
            {/* A trigger of two kinds, so the name is its own and no tooltip. */}
            <button type="button" {...cell(restore ? 2 : 1)} aria-label={`More about ${what} ${detail}`.trim()} className="inline-flex size-8 shrink-0 items-center justify-center rounded-md text-muted hover:bg-raised hover:text-ink">
              <EllipsisVertical className="size-4" />
            </button>
          </Menu>
        </div>
      )}
    </div>
  );
}

/** Facts is the second line of a state: when, how much, and where it stands. */
function Facts({ state, branch, from, aside }: { state: WorkspaceState; branch?: Branch; from?: string; aside: boolean }) {
  return (
    <span className="flex w-full min-w-0 items-baseline gap-2 text-xs text-muted">
      <RelativeTime at={state.created_at} className="shrink-0" />
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
      {(state.undone || state.reverted) && <span className="shrink-0">undone</span>}
      {state.shared && (
        <span className="shrink-0" title="Other programs may have made some of these changes while it ran">
          shared
        </span>
      )}
      {!state.complete && <span className="shrink-0 text-warn">not all of it is kept</span>}
      {branch && (
        <span className="flex min-w-0 items-baseline gap-1">
          <GitBranch className="size-3 shrink-0 self-center" aria-hidden="true" />
          <span className="sr-only">end of the branch </span>
          <bdi className="truncate">{branchName(branch)}</bdi>
        </span>
      )}
      {/* What the lines say. */}
      {aside && !branch && <span className="sr-only">on another branch</span>}
      {from && <span className="sr-only">after {from}</span>}
    </span>
  );
}

/** Changes is what is seen of a state where it is hovered or has the focus. */
function Changes({ state, detail, from, branch }: { state: WorkspaceState; detail: string; from?: string; branch?: Branch }) {
  const { changes } = state;
  const all = changes?.changed ?? 0;
  const paths = changes?.paths.slice(0, 12) ?? [];
  return (
    <div className="flex flex-col gap-0.5">
      {detail.length > 30 && <p className="mb-1 line-clamp-4 font-mono text-xs break-all">{detail}</p>}
      {branch && <p className="line-clamp-3">The branch {branchName(branch)} ended here</p>}
      {from && <p className="line-clamp-2 text-muted">After {from}</p>}
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
