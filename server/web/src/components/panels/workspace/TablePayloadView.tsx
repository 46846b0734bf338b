import { Download } from "lucide-react";
import { useDeferredValue, useMemo, useState } from "react";
import { Button } from "@/components/ui/Button";
import { Dialog } from "@/components/ui/Dialog";
import { Empty } from "@/components/ui/States";
import { download, fileName } from "@/lib/download";
import { dataOf } from "@/lib/workspace/payload";
import { filterRows, readTable, sortRows, toCsv, type Row, type Sorting } from "@/lib/workspace/table";
import type { WorkspacePayload } from "@/types/chat";
import { JsonView } from "./JsonView";
import { Prose } from "./LongText";
import { DataGrid } from "./DataGrid";

/** TablePayloadView is a table to sort, to filter and to take along. */
export default function TablePayloadView({ payload }: { payload: WorkspacePayload }) {
  const data = dataOf(payload);
  const table = useMemo(() => readTable(data), [data]);
  const [filter, setFilter] = useState("");
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const [open, setOpen] = useState<Row | null>(null);
  const wanted = useDeferredValue(filter);
  const rows = useMemo(() => sortRows(table, filterRows(table.rows, wanted), sorting), [table, wanted, sorting]);
  const count = rows.length === table.rows.length ? `${rows.length.toLocaleString()} rows` : `${rows.length.toLocaleString()} of ${table.rows.length.toLocaleString()} rows`;
  return (
    <div className="flex h-full min-h-0 flex-col gap-3 p-4">
      {payload.content && (
        <div className="scroll-y max-h-40 shrink-0">
          <Prose text={payload.content} />
        </div>
      )}
      {table.rows.length === 0 ? (
        <Empty title="The table has no rows" />
      ) : (
        <>
          <div className="flex shrink-0 flex-wrap items-center gap-2">
            <input
              type="search"
              value={filter}
              onChange={(e) => setFilter(e.target.value)}
              placeholder="Filter rows"
              aria-label="Filter rows"
              className="h-8 min-w-0 flex-1 rounded-md border border-border bg-bg px-3 text-[13px]"
            />
            <span role="status" className="text-[13px] text-muted">
              {count}
              {table.more > 0 && `, ${table.more} more columns in the file`}
            </span>
            <Button size="small" onClick={() => download(fileName(payload.title || "table", "csv"), toCsv(table, rows), "text/csv")}>
              <Download className="size-3.5" aria-hidden="true" />
              CSV
            </Button>
          </div>
          <DataGrid label={payload.title || "Table"} table={table} rows={rows} sorting={sorting} onSort={setSorting} onOpen={setOpen} />
        </>
      )}
      {open && (
        <Dialog open onOpenChange={(o) => !o && setOpen(null)} title={`Row ${open.index + 1}`} wide>
          <dl className="flex flex-col gap-3 text-sm">
            {table.columns.map((c, i) => (
              <div key={i}>
                <dt className="text-[13px] text-muted">{c.label}</dt>
                <dd>
                  <Whole value={open.cells[i]} />
                </dd>
              </div>
            ))}
          </dl>
        </Dialog>
      )}
    </div>
  );
}

function Whole({ value }: { value: unknown }) {
  if (value === null || value === undefined || value === "") return <span className="text-muted">–</span>;
  if (typeof value === "object") return <JsonView value={value} />;
  const all = String(value);
  return (
    <p dir="auto" className="break-words whitespace-pre-wrap">
      {all.slice(0, 20_000)}
      {all.length > 20_000 && "…"}
    </p>
  );
}
