import { expect, it } from "vitest";
import { lanesOf, widthOf } from "./lanes";
import { counts, stateWords } from "./stateWords";
import type { WorkspaceState } from "./workspaceApi";

const solid = (lane: number) => ({ lane, dashed: false });
const dashed = (lane: number) => ({ lane, dashed: true });

it("draws one line where nothing was undone", () => {
  expect(lanesOf([{ id: "c", parent_id: "b", active: true }, { id: "b", parent_id: "a" }, { id: "a" }])).toEqual([
    { lane: 0, up: undefined, down: solid(0), through: [], joins: [], from: undefined },
    { lane: 0, up: solid(0), down: solid(0), through: [], joins: [], from: undefined },
    { lane: 0, up: solid(0), down: undefined, through: [], joins: [], from: undefined },
  ]);
});

// As the server lists them after write, write, write, undo: the restore is a child of
// what it went back from.
it("puts what was undone beside the way to the active state", () => {
  const placed = lanesOf([
    { id: "restore", parent_id: "undone", active: true },
    { id: "undone", parent_id: "two", undone: true },
    { id: "two", parent_id: "one" },
    { id: "one" },
  ]);
  expect(placed.map((p) => p.lane)).toEqual([0, 1, 0, 0]);
  expect(placed[1]).toEqual({ lane: 1, up: undefined, down: dashed(1), through: [solid(0)], joins: [], from: undefined });
  expect(placed[2]).toEqual({ lane: 0, up: solid(0), down: solid(0), through: [], joins: [dashed(1)], from: undefined });
  expect(placed[0]?.from).toBe(2);
});

it("keeps two other branches apart, and uses a lane again that has ended", () => {
  const placed = lanesOf([
    { id: "x", parent_id: "b" },
    { id: "y", parent_id: "b" },
    { id: "c", parent_id: "b", active: true },
    { id: "b", parent_id: "a" },
    { id: "z", parent_id: "a" },
    { id: "a" },
  ]);
  expect(placed.map((p) => p.lane)).toEqual([1, 2, 0, 0, 1, 0]);
  expect(placed[3]?.joins).toEqual([solid(1), solid(2)]);
  expect(placed.map((p) => p.from)).toEqual([3, 3, undefined, 5, undefined, undefined]);
  expect(widthOf(placed)).toBe(3);
});

it("lets no line run on to a state that isn't listed, or is listed above", () => {
  const placed = lanesOf([{ id: "old", parent_id: "gone" }, { id: "b", parent_id: "c", active: true }, { id: "c", parent_id: "b" }]);
  expect(placed.map((p) => p.through)).toEqual([[], [], []]);
  expect(placed[0]?.down).toEqual(solid(1));
  expect(placed[0]?.from).toBeUndefined();
});

it("draws the lanes of very many branches on the last one", () => {
  const many = Array.from({ length: 1000 }, (_, i) => ({ id: String(i), parent_id: i === 999 ? undefined : String(i % 4 === 0 ? 999 : i + 1), active: i === 1 }));
  const placed = lanesOf(many);
  expect(placed).toHaveLength(1000);
  expect(widthOf(placed)).toBe(6);
});

it("says what made a state", () => {
  const state = (more: Partial<WorkspaceState>): WorkspaceState => ({
    id: "m", chat_id: "c", root: "", created_at: "", source: "edit", complete: true, file_count: 1, bytes: 1, parent_id: "p", ...more,
  });
  expect(stateWords(state({ source: "tool_run", tool: "app-builder:write_file", args: { content: "x", path: "site/app.js" } }))).toEqual({ what: "write_file", detail: "site/app.js" });
  expect(stateWords(state({ source: "external", parent_id: undefined })).what).toBe("As it was found");
  expect(stateWords(state({ changes: { changed: 1, paths: [{ path: "a", kind: "removed" }] } }))).toEqual({ what: "Deleted", detail: "a" });
  expect(stateWords(state({ source: "tool_run", args: { __proto__: null } })).detail).toBe("");
  const paths = ["a", "b"].map((path) => ({ path, kind: "added" }));
  expect(counts({ changed: 3, paths: [...paths, { path: "c", kind: "removed" }] }).map((c) => c.sign + c.n)).toEqual(["+2", "−1"]);
  expect(counts({ changed: 20_000, paths })).toEqual([{ sign: "", n: 20_000, word: "changed" }]);
});
