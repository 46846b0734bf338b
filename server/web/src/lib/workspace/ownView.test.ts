import { expect, test } from "vitest";
import { isWhole, lookOf, ownRenderer } from "./ownView";

test("a plan has a view where its renderer is one that payloads have", () => {
  for (const renderer of ["html", "mcp_app", "frame", "code", "document", "table"]) expect(ownRenderer({ renderer, config: {} })).toBe(renderer);
  for (const plan of [undefined, null, "html", {}, { renderer: "" }, { renderer: "video" }, { renderer: 1 }, { renderer: "html", error: { message: "m" } }]) expect(ownRenderer(plan)).toBe("");
});

test("a plan of a list may lack its config", () => {
  expect(isWhole({ renderer: "html", config: {} })).toBe(true);
  expect(isWhole({ renderer: "html", config: null })).toBe(false);
  expect(isWhole({ renderer: "html" })).toBe(false);
});

test("a look has texts of a bounded length and nothing else", () => {
  expect(lookOf({ renderer: "html" })).toBeUndefined();
  expect(lookOf({ look: "red" })).toBeUndefined();
  const look = lookOf({ look: { icon: "star", label: "x".repeat(500), panelWidth: 640, editable: "yes" } });
  expect(look).toMatchObject({ icon: "star", editable: false, panelWidth: undefined });
  expect(look?.label?.length).toBeLessThanOrEqual(81);
});
