import { expect, it } from "vitest";
import { lanesOf } from "./lanes";
import { counts, stateWords } from "./stateWords";
import type { WorkspaceState } from "./workspaceApi";

it("draws one line where nothing was undone", () => {
  expect(lanesOf([{ id: "c", parent_id: "b", active: true }, { id: "b", parent_id: "a" }, { id: "a" }])).toEqual([
    { lane: 0, up: false, down: true, through: [], joins: [] },
    { lane: 0, up: true, down: true, through: [], joins: [] },
    { lane: 0, up: true, down: false, through: [], joins: [] },
  ]);
});

// As the server lists them after write, write, write, undo: the undone one first,
// and the restore as a child of what it went back from.
it("puts what was undone beside the way to the active state", () => {
  const placed = lanesOf([
    { id: "undone", parent_id: "two", undone: true },
    { id: "restore", parent_id: "undone", active: true },
    { id: "two", parent_id: "one" },
    { id: "one" },
  ]);
  expect(placed.map((p) => p.lane)).toEqual([1, 0, 0, 0]);
  expect(placed[1]?.through).toEqual([1]);
  expect(placed[2]).toEqual({ lane: 0, up: true, down: true, through: [], joins: [1] });
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
  expect(placed[3]?.joins).toEqual([1, 2]);
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
