import { expect, test } from "vitest";
import { filterRows, readTable, sortRows, toCsv } from "./table";

const table = readTable({
  columns: [{ key: "name", label: "Name" }, "amount", { key: "note" }],
  rows: [
    { name: "Zoë", amount: 10, note: "=SUM(A1)" },
    { name: "ana", amount: "9.5", note: 'with "quotes", and a comma' },
    { name: "محمد", amount: null, note: -5 },
    ["of a list", 100],
    "odd",
  ],
});

test("rows are read by key, by place, or as they are", () => {
  expect(table.columns.map((c) => [c.label, c.numeric])).toEqual([["Name", false], ["amount", true], ["note", false]]);
  expect(table.rows.map((r) => r.cells[0])).toEqual(["Zoë", "ana", "محمد", "of a list", "odd"]);
  expect(readTable([{ a: 1 }, { b: 2 }]).columns.map((c) => c.key)).toEqual(["a", "b"]);
  expect(readTable({ rows: "no", columns: 5 })).toEqual({ columns: [], rows: [], more: 0 });
  expect(readTable({ rows: [JSON.parse('{"__proto__": 1, "constructor": 2}')] }).rows[0]?.cells).toEqual([1, 2]);
});

test("numbers sort as numbers, empty cells come last either way", () => {
  const names = (descending: boolean) => sortRows(table, table.rows, { column: 1, descending }).map((r) => r.cells[0]);
  expect(names(false)).toEqual(["ana", "Zoë", "of a list", "محمد", "odd"]);
  expect(names(true)).toEqual(["of a list", "Zoë", "ana", "محمد", "odd"]);
  expect(sortRows(table, table.rows, { column: 0, descending: false })[0]?.cells[0]).toBe("ana");
});

test("a filter wants all its words, wherever they stand", () => {
  expect(filterRows(table.rows, "COMMA ana").map((r) => r.index)).toEqual([1]);
  expect(filterRows(table.rows, "  ")).toHaveLength(5);
});

test("a spreadsheet runs nothing of the file", () => {
  const csv = toCsv(table, table.rows.slice(0, 3));
  expect(csv.split("\r\n")).toEqual(["Name,amount,note", "Zoë,10,'=SUM(A1)", 'ana,9.5,"with ""quotes"", and a comma"', "محمد,,-5", ""]);
});

test("ten thousand rows are read, filtered and sorted in no time", () => {
  const many = readTable({ rows: Array.from({ length: 10_000 }, (_, i) => ({ id: i, city: `city ${i % 97}` })) });
  const began = performance.now();
  expect(sortRows(many, filterRows(many.rows, "city 9"), { column: 1, descending: true }).length).toBeGreaterThan(100);
  expect(performance.now() - began).toBeLessThan(2_000);
});
