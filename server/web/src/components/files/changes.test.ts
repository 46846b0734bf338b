import { expect, it } from "vitest";
import { canRedo, shownChanges, stat } from "./changes";
import type { FileChange, FileInfo } from "./workspaceApi";

const file = (path: string, sha256: string, more: Partial<FileInfo> = {}): FileInfo => ({ path, kind: "file", size: 9, sha256, ...more });

it("takes a removed and an added file of the same content for a rename", () => {
  const changes: FileChange[] = [
    { path: "a.md", change: "removed", old: file("a.md", "x") },
    { path: "b.md", change: "added", new: file("b.md", "x") },
    { path: "c.md", change: "added", new: file("c.md", "x") },
  ];
  const shown = shownChanges(changes);
  expect(shown.map((c) => [c.kind, c.from, c.path, c.content])).toEqual([
    ["renamed", "a.md", "b.md", false],
    ["added", undefined, "c.md", true],
  ]);
  expect(stat(shown)).toBe("1 added, 1 renamed");
});

it("takes no empty files for renames", () => {
  const changes: FileChange[] = [
    { path: "a", change: "removed", old: file("a", "0", { size: 0 }) },
    { path: "b", change: "added", new: file("b", "0", { size: 0 }) },
  ];
  expect(shownChanges(changes).map((c) => c.kind)).toEqual(["removed", "added"]);
});

it("tells of a folder only where nothing in it does", () => {
  const folder = (path: string): FileChange => ({ path, change: "removed", old: { path, kind: "folder", size: 0 } });
  const shown = shownChanges([folder("deep"), folder("deep/very"), { path: "deep/very/a.txt", change: "removed", old: file("deep/very/a.txt", "x") }, folder("empty")]);
  expect(shown.map((c) => c.path)).toEqual(["deep/very/a.txt", "empty"]);
});

it("says what differs beside the content", () => {
  const [mode, link, kind, failed] = shownChanges([
    { path: "run.sh", change: "modified", old: file("run.sh", "x"), new: file("run.sh", "x", { kind: "executable" }) },
    { path: "start", change: "added", new: { path: "start", kind: "link", size: 0, target: "site/index.html" } },
    { path: "d", change: "modified", old: file("d", "x"), new: { path: "d", kind: "folder", size: 0 } },
    { path: "pipe", change: "added", new: { path: "pipe", kind: "omitted", size: 0, reason: "it is too large" } },
  ]);
  expect([mode?.notes, mode?.content]).toEqual([["made executable"], false]);
  expect([link?.notes, link?.content]).toEqual([["leads to site/index.html"], false]);
  expect([kind?.notes, kind?.content]).toEqual([["file became folder", "a folder"], false]);
  expect(failed?.notes).toEqual(["not kept: it is too large"]);
});

it("redoes what is undone, and an undo of one call that is the last change", () => {
  const call = { id: "A", source: "tool_run", source_ref: "CALL" };
  const undo = { id: "B", parent_id: "A", source: "restored", source_ref: "-CALL" };
  const redo = { id: "C", parent_id: "B", source: "restored", source_ref: "-B^" };
  expect(canRedo([{ ...call, active: true }])).toBe(false);
  expect(canRedo([{ ...call, undone: true }])).toBe(true);
  expect(canRedo([{ ...undo, active: true }, call])).toBe(true);
  expect(canRedo([{ ...redo, active: true }, undo, call])).toBe(false);
});
