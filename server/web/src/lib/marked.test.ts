import { expect, it } from "vitest";
import { argument } from "./argument";
import { splitMarkers, withoutMarkers } from "./markers";
import { marked } from "./marked";

it("marks words by characters, not by halves of them", () => {
  expect(marked("🍞 bread", [[2, 7]])).toEqual([{ text: "🍞 ", hit: false }, { text: "bread", hit: true }]);
  expect(marked("a", [[5, 9]])).toEqual([{ text: "a", hit: false }]);
});

it("puts cards where the markers are", () => {
  expect(splitMarkers("[[tool:0]][[tool:1]]Done \\[\\[tool:2]]")).toEqual([
    { kind: "tool", index: 0 },
    { kind: "tool", index: 1 },
    { kind: "text", text: "Done \\[\\[tool:2]]" },
  ]);
  expect(withoutMarkers("a[[tool:0]]b \\[\\[tool:2]]")).toBe("a\n\nb [[tool:2]]");
});

it("finds the argument that matters", () => {
  expect(argument({ limit: 3, path: "a/b.go", content: "x" })).toBe("a/b.go");
  expect(argument({ business_name: "Blue Door Bakery", source: "all" })).toBe("Blue Door Bakery");
  expect(argument({ count: 3 })).toBe("count: 3");
  expect(argument({})).toBe("");
  expect(argument({ command: "ls\n -la" })).toBe("ls -la");
});
