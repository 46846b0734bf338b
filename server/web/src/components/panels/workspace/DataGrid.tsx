import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState, type KeyboardEvent } from "react";
import { cn } from "@/lib/cn";
import { cellText, widths, type Row, type Sorting, type Table } from "@/lib/workspace/table";
import { ariaSort, SortButton } from "./SortButton";

const height = 32;

/** DataGrid shows the rows that are in sight. Arrows move between rows, Enter opens one. */
export function DataGrid({
  label,
  table,
  rows,
  sorting,
  onSort,
  onOpen,
}: {
  label: string;
  table: Table;
  rows: Row[];
  sorting: Sorting | null;
  onSort(sorting: Sorting | null): void;
  onOpen(row: Row): void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  // eslint-disable-next-line react-hooks/incompatible-library -- nothing of it is memoized here
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => scroller.current, estimateSize: () => height, overscan: 12 });
  const template = useMemo(() => widths(table).map((w) => `minmax(${w}ch, ${w}fr)`).join(" "), [table]);
  const at = Math.min(active, Math.max(0, rows.length - 1));

  const move = (to: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setActive(next);
    virtual.scrollToIndex(next);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.target !== e.currentTarget) return; // a column's button
    const page = Math.floor((scroller.current?.clientHeight ?? 320) / height) - 2;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: rows.length - 1 }[e.key];
    if (to !== undefined) {
      e.preventDefault();
      move(to);
    } else if (e.key === "Enter" || e.key === " ") {
      e.preventDefault();
      const row = rows[at];
      if (row) onOpen(row);
    }
  };

  return (
    <div
      ref={scroller}
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-colcount={table.columns.length}
      aria-activedescendant={rows.length > 0 ? `row-${at}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      className="group scroll-y min-h-40 flex-1 overflow-x-auto rounded-md border border-border text-[13px] tabular-nums"
    >
      <div role="rowgroup" className="sticky top-0 z-10 min-w-max border-b border-border bg-surface">
        <div role="row" aria-rowindex={1} className="grid" style={{ gridTemplateColumns: template }}>
          {table.columns.map((c, i) => (
            <div key={i} role="columnheader" aria-sort={ariaSort(sorting, i)} className="min-w-0">
              <SortButton label={c.label} column={i} sorting={sorting} onSort={onSort} descendingFirst={c.numeric} className={c.numeric ? "justify-end" : ""} />
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" className="relative min-w-max" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          return (
            // The keyboard's way is the grid's: arrows and Enter.
            // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
            <div
              key={row.index}
              id={`row-${item.index}`}
              role="row"
              aria-rowindex={item.index + 2}
              onClick={() => {
                setActive(item.index);
                onOpen(row);
              }}
              className={cn(
                "absolute inset-x-0 top-0 grid cursor-pointer border-b border-border/60 hover:bg-raised",
                item.index === at && "group-focus-visible:bg-raised",
              )}
              style={{ height, transform: `translateY(${item.start}px)`, gridTemplateColumns: template }}
            >
              {table.columns.map((c, i) => (
                <div key={i} role="gridcell" dir="auto" className={cn("truncate px-2 leading-8", c.numeric && "text-right")}>
                  {cellText(row.cells[i])}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}
