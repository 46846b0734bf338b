import { ArrowDown, ArrowUp } from "lucide-react";
import { cn } from "@/lib/cn";
import { nextSorting, type Sorting } from "@/lib/workspace/table";

/** ariaSort is the aria-sort of a column's header. */
export function ariaSort(sorting: Sorting | null, column: number): "ascending" | "descending" | "none" {
  if (sorting?.column !== column) return "none";
  return sorting.descending ? "descending" : "ascending";
}

/** SortButton is the label of a column in its header; a click sorts the table by the column. */
export function SortButton({ label, column, sorting, onSort, descendingFirst, className }: {
  label: string;
  column: number;
  sorting: Sorting | null;
  onSort(sorting: Sorting | null): void;
  descendingFirst?: boolean;
  className?: string;
}) {
  const Arrow = { ascending: ArrowUp, descending: ArrowDown, none: null }[ariaSort(sorting, column)];
  return (
    <button
      type="button"
      title={label}
      onClick={() => onSort(nextSorting(sorting, column, descendingFirst))}
      className={cn("flex h-8 w-full items-center gap-1 px-2 text-left font-medium -outline-offset-2 hover:bg-raised", className)}
    >
      <span dir="auto" className="truncate">{label}</span>
      {Arrow && <Arrow aria-hidden="true" className="size-3.5 shrink-0" />}
    </button>
  );
}
