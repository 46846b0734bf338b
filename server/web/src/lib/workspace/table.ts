import { cut, fields, list, number, own, pretty, text } from "./read";

export interface Column {
  key: string;
  label: string;
  numeric: boolean;
}

export interface Row {
  /** its place in the data: what it is called when it is sorted */
  index: number;
  cells: unknown[];
}

export interface Table {
  columns: Column[];
  rows: Row[];
  /** columns beyond these were left out */
  more: number;
}

const maxColumns = 200;

/**
 * readTable reads document 000's table: columns (names, or {key, label}) and rows
 * (lists, or objects by the columns' keys). Without columns the rows' own names
 * are taken.
 */
export function readTable(data: unknown): Table {
  const given = fields(data);
  const source = Array.isArray(data) ? data : list(given.rows ?? given.data);
  const named = list(given.columns ?? given.headers).map((c, i) => {
    const f = fields(c);
    const key = text(f.key ?? f.id ?? f.field ?? f.name, 200) || text(c, 200) || String(i);
    return { key, label: text(f.label ?? f.header ?? f.title ?? f.name, 200) || key };
  });
  const all = named.length > 0 ? named : keysOf(source).map((key) => ({ key, label: key }));
  const kept = all.slice(0, maxColumns);
  const rows = source.map((row, index) => ({
    index,
    cells: kept.map((c, i) => (Array.isArray(row) ? row[i] : isObject(row) ? own(row, c.key) ?? own(row, c.label) : i === 0 ? row : undefined)),
  }));
  const columns = kept.map((c, i) => ({ ...c, numeric: isNumeric(rows, i) }));
  return { columns, rows, more: all.length - kept.length };
}

function isObject(v: unknown): v is Record<string, unknown> {
  return typeof v === "object" && v !== null;
}

function keysOf(rows: unknown[]): string[] {
  const keys = new Set<string>();
  for (const row of rows.slice(0, 200)) {
    if (Array.isArray(row)) row.forEach((_, i) => keys.add(String(i + 1)));
    else if (isObject(row)) Object.keys(row).forEach((k) => keys.add(k));
    else keys.add("value");
  }
  return [...keys];
}

function isNumeric(rows: Row[], column: number): boolean {
  let some = false;
  for (const row of rows.slice(0, 500)) {
    const value = row.cells[column];
    if (value === null || value === undefined || value === "") continue;
    if (number(value) === undefined) return false;
    some = true;
  }
  return some;
}

/** cellText is a cell as one line. */
export function cellText(value: unknown, most = 300): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return cut(value, most).replace(/\s+/g, " ");
  if (typeof value === "object") return cut(pretty(value).slice(0, most + 1), most).replace(/\s+/g, " ");
  return String(value);
}

export interface Sorting {
  column: number;
  descending: boolean;
}

/** nextSorting is the sorting after a click on a column's header: one direction, the other one, then none. */
export function nextSorting(now: Sorting | null, column: number, descendingFirst = false): Sorting | null {
  if (now?.column !== column) return { column, descending: descendingFirst };
  return now.descending === descendingFirst ? { column, descending: !descendingFirst } : null;
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/** sortRows orders rows by a column; empty cells come last, equal ones stay in their order. */
export function sortRows(table: Table, rows: Row[], by: Sorting | null): Row[] {
  if (!by) return rows;
  const numeric = table.columns[by.column]?.numeric ?? false;
  const keyed = rows.map((row) => {
    const value = row.cells[by.column];
    return { row, key: numeric ? number(value) : value === null || value === undefined || value === "" ? undefined : cellText(value) };
  });
  const sign = by.descending ? -1 : 1;
  keyed.sort((a, b) => {
    if (a.key === undefined || b.key === undefined) return a.key === b.key ? a.row.index - b.row.index : a.key === undefined ? 1 : -1;
    const order = typeof a.key === "number" && typeof b.key === "number" ? a.key - b.key : collator.compare(String(a.key), String(b.key));
    return order === 0 ? a.row.index - b.row.index : sign * order;
  });
  return keyed.map((k) => k.row);
}

/** filterRows keeps rows in which all words stand somewhere. */
export function filterRows(rows: Row[], filter: string): Row[] {
  const wanted = filter.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return rows;
  return rows.filter((row) => {
    const line = row.cells.map((c) => cellText(c, 2_000)).join("\n").toLocaleLowerCase();
    return wanted.every((w) => line.includes(w));
  });
}

/** toCsv is a table as a file for a spreadsheet. Texts that one would run as a formula stay texts. */
export function toCsv(table: Table, rows: Row[]): string {
  const line = (cells: unknown[]) => cells.map(csvCell).join(",");
  return [line(table.columns.map((c) => c.label)), ...rows.map((r) => line(r.cells))].join("\r\n") + "\r\n";
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  let cell = typeof value === "object" ? JSON.stringify(value) : String(value);
  if (/^[=+\-@\t\r]/.test(cell) && number(cell) === undefined) cell = "'" + cell;
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** widths are the columns' shares of the width, by what stands in them, in characters. */
export function widths(table: Table): number[] {
  return table.columns.map((c, i) => {
    let most = Math.min(c.label.length + 3, 24);
    for (const row of table.rows.slice(0, 100)) most = Math.max(most, Math.min(40, cellText(row.cells[i], 60).length + 3));
    return Math.max(6, most);
  });
}
