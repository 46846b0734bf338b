import { describe, expect, it } from "vitest";
import { above, buildTree, openAtFirst, rowsOf, type Mark, type TreeFile } from "./tree";

const file = (path: string, size = 1): TreeFile => ({ path, kind: "file", size, sha256: "x" });
const shown = (rows: ReturnType<typeof rowsOf>) => rows.map((r) => "  ".repeat(r.level - 1) + r.node.name + (r.node.folder ? (r.open ? "/" : "…") : ""));

describe("the tree", () => {
  const files = [file("page 10.md"), file("site/app.js", 242), file("site/img/a.png"), file("page 2.md"), file("README.md")];

  it("puts folders first, and counts as people do", () => {
    const root = buildTree(files);
    expect(shown(rowsOf(root, openAtFirst(root)))).toEqual(["site/", "  img/", "    a.png", "  app.js", "page 2.md", "page 10.md", "README.md"]);
    const site = root.children[0];
    expect([site?.files, site?.size]).toEqual([2, 243]);
  });

  it("filters by path, and shows the folders above what matches", () => {
    const root = buildTree(files);
    expect(shown(rowsOf(root, new Set(), "a.png"))).toEqual(["site/", "  img/", "    a.png"]);
    expect(shown(rowsOf(root, new Set(), "SITE"))).toEqual(["site…"]);
    expect(rowsOf(root, new Set(), "nothing")).toEqual([]);
  });

  it("marks what changed, and keeps what was removed", () => {
    const marks = new Map<string, Mark>([["site/app.js", "modified"], ["old.md", "removed"]]);
    const root = buildTree(files, marks, [file("old.md", 7)]);
    expect(root.changed).toBe(2);
    expect(root.files).toBe(5); // what is gone isn't counted
    expect(root.children.find((n) => n.name === "old.md")?.mark).toBe("removed");
  });

  it("shows folders that are empty", () => {
    const root = buildTree([{ path: "empty/deep", kind: "folder", size: 0 }]);
    expect(shown(rowsOf(root, new Set(["empty"])))).toEqual(["empty/", "  deep…"]);
  });

  it("takes names that an object has for names", () => {
    const root = buildTree([file("__proto__/constructor"), file("toString")]);
    expect(root.files).toBe(2);
  });

  it("is folded, and quick, with twenty thousand files", () => {
    const many = Array.from({ length: 20_000 }, (_, i) => file(`src/pkg${i % 200}/part${i % 7}/file${i}.py`));
    const start = performance.now();
    const root = buildTree(many);
    expect(rowsOf(root, openAtFirst(root))).toHaveLength(1);
    expect(rowsOf(root, new Set(), "file19999")).toHaveLength(4);
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});

it("names the folders above a path", () => {
  expect(above("a/b/c.md")).toEqual(["a", "a/b"]);
  expect(above("c.md")).toEqual([]);
});
