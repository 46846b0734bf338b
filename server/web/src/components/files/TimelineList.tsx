import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { rowHeight } from "./Lanes";
import { lanesOf, widthOf } from "./lanes";
import { said } from "./stateWords";
import { TimelineRow } from "./TimelineRow";
import type { Branch, WorkspaceState } from "./workspaceApi";

export interface TimelineListProps {
  states: WorkspaceState[];
  /** the chat's other branches, by the state that they ended with */
  ends: Map<string, Branch>;
  comparing: WorkspaceState | null;
  /** the state that a person was at last */
  reached: string | null;
  onReach(id: string): void;
  onChoose(state: WorkspaceState): void;
  onRestore(state: WorkspaceState): void;
  onDiff(state: WorkspaceState): void;
  onCompare(state: WorkspaceState): void;
  onSwitch(branch: Branch): void;
  /** what stands below the last one */
  children?: ReactNode;
}

// Pixels of the states above the one that a person comes back to.
const above = 4 * rowHeight;

/**
 * TimelineList is the states with the lines between them, as a grid after the WAI-ARIA
 * practices: one stop of Tab, arrows among the states and what can be done with each.
 * Rows out of sight aren't in the document.
 */
export function TimelineList({ states, ends, comparing, reached, onReach, onChoose, onRestore, onDiff, onCompare, onSwitch, children }: TimelineListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const placed = useMemo(() => lanesOf(states), [states]);
  const width = useMemo(() => widthOf(placed), [placed]);
  const at = Math.max(0, states.findIndex((s) => (reached ? s.id === reached : s.active)));
  const [offset] = useState(reached ? Math.max(0, at * rowHeight - above) : 0);
  // eslint-disable-next-line react-hooks/incompatible-library -- the rows are drawn anew with each scroll
  const list = useVirtualizer({
    count: states.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10,
    initialOffset: offset,
    rangeExtractor: (range) => {
      const shown = defaultRangeExtractor(range);
      // The row that has the focus keeps it while others are scrolled to.
      return at < states.length && !shown.includes(at) ? [...shown, at].sort((a, b) => a - b) : shown;
    },
  });

  const go = (index: number, column: number) => {
    const to = Math.min(states.length - 1, Math.max(0, index));
    const id = states[to]?.id;
    if (id) onReach(id);
    list.scrollToIndex(to, { align: "auto" });
    // It may not be drawn yet.
    requestAnimationFrame(() => focusCell(scroller.current, to, column));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const cell = (event.target as HTMLElement).closest<HTMLElement>("[data-row]");
    if (!cell || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const row = Number(cell.dataset.row);
    const column = Number(cell.dataset.column);
    const screen = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 480) / rowHeight) - 1);
    const step: Record<string, [number, number]> = {
      ArrowDown: [1, column],
      ArrowUp: [-1, column],
      PageDown: [screen, column],
      PageUp: [-screen, column],
      Home: [-states.length, 0],
      End: [states.length, 0],
      ArrowLeft: [0, column - 1],
      ArrowRight: [0, column + 1],
    };
    // The menu of a row opens by Enter: the arrows lead on among the rows.
    const to = step[event.key];
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    go(row + to[0], to[1]);
  };

  return (
    <div ref={scroller} className="scroll-y min-h-0 flex-1">
      <div
        role="grid"
        aria-label="States, the latest first"
        aria-rowcount={states.length}
        tabIndex={-1}
        onKeyDownCapture={onKeyDown}
        onFocus={(e) => {
          const row = Number((e.target as HTMLElement).closest<HTMLElement>("[data-row]")?.dataset.row ?? NaN);
          const id = states[row]?.id;
          if (id && id !== reached) onReach(id);
        }}
        className="relative w-full outline-none"
        style={{ height: list.getTotalSize() }}
      >
        {list.getVirtualItems().map((item) => {
          const state = states[item.index];
          const place = placed[item.index];
          if (!state || !place) return null;
          const from = place.from === undefined ? undefined : states[place.from];
          const end = ends.get(state.id);
          return (
            <TimelineRow
              key={state.id}
              state={state}
              place={place}
              width={width}
              index={item.index}
              top={item.start}
              reached={item.index === at}
              from={from && said(from)}
              branch={end}
              compared={comparing?.id === state.id}
              comparing={comparing !== null}
              onChoose={() => onChoose(state)}
              onRestore={() => onRestore(state)}
              onDiff={() => onDiff(state)}
              onCompare={() => onCompare(state)}
              onSwitch={end && (() => onSwitch(end))}
            />
          );
        })}
      </div>
      {children}
    </div>
  );
}

/** focusCell puts the focus on a column of a row, or on the last one that the row has. */
function focusCell(within: HTMLElement | null, row: number, column: number) {
  const cells = [...(within?.querySelectorAll<HTMLElement>(`[data-row="${row}"]`) ?? [])];
  cells[Math.min(cells.length - 1, Math.max(0, column))]?.focus({ preventScroll: true });
}
