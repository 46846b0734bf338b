import { expect, test } from "vitest";
import { layOut, readGraph } from "./graph";

const release = {
  nodes: [{ id: "build" }, { id: "unit" }, { id: "browser" }, { id: "judge", label: "Good enough?" }, { id: "fix" }, { id: "publish" }],
  edges: [
    { from: "build", to: "unit" },
    { from: "build", to: "browser" },
    { source: "unit", target: "judge" },
    ["browser", "judge"],
    { from: "judge", to: "publish", label: "yes" },
    { from: "judge", to: "fix", label: "no" },
    { from: "fix", to: "build" },
    { from: "fix", to: "nowhere" },
  ],
};

test("each step stands below those that lead to it; a way back bends around", () => {
  const layout = layOut(readGraph(release));
  const layer = Object.fromEntries(layout.nodes.map((n) => [n.id, n.layer]));
  expect(layer).toEqual({ build: 0, unit: 1, browser: 1, judge: 2, fix: 3, publish: 3 });
  expect(layout.edges).toHaveLength(7);
  const boxes = new Set(layout.nodes.map((n) => `${n.x},${n.y}`));
  expect(boxes.size).toBe(6);
});

test("steps that name what comes next, what was before, or nothing", () => {
  expect(readGraph({ steps: [{ id: "a", next: "b" }, { id: "b", next: ["c"] }, { id: "c" }] }).edges.map((e) => e.from + e.to)).toEqual(["ab", "bc"]);
  expect(readGraph({ steps: [{ id: "a" }, { id: "b", depends_on: ["a"] }] }).edges).toHaveLength(1);
  expect(readGraph({ steps: [{ id: "a", tool: "x" }, { id: "b" }, { id: "c" }] }).edges.map((e) => e.from + e.to)).toEqual(["ab", "bc"]);
});

test("odd and huge graphs are drawn as far as they can be", () => {
  expect(readGraph(null)).toEqual({ nodes: [], edges: [], more: 0 });
  expect(layOut(readGraph({ nodes: [7, null, "a", "a"], edges: [null, ["a", "a"]] })).edges).toHaveLength(1);
  const chain = { nodes: Array.from({ length: 5_000 }, (_, i) => ({ id: `n${i}`, next: `n${i + 1}` })) };
  const graph = readGraph(chain);
  expect(graph.nodes.length + graph.more).toBe(5_000);
  expect(layOut(graph).nodes).toHaveLength(250);
});
