import { expect, it } from "vitest";
import { drew } from "./drew";

it("knows a view that shows some of its data from one that shows none", () => {
  const data = { verdict: { label: "not_recommended" }, count: 1727.5 };
  expect(drew("Verdict: Not recommended", data)).toBe(true);
  expect(drew("1,727.5 orders", { count: 1727.5 })).toBe(true);
  expect(drew("The plan is empty.", data)).toBe(false);
  expect(drew("Nothing is suggested.", [{ title: "Naps at work" }])).toBe(false);
});

it("takes a view of no data for whole", () => {
  expect(drew("There is nothing in it.", {})).toBe(true);
  expect(drew("", null)).toBe(true);
});
