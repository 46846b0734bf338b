import { expect, test } from "vitest";
import { applyEvent, progressOf } from "./workflow";
import type { WorkflowInstanceState } from "./workspaceMode";

const at = "2026-11-28T17:00:00Z";
const step = (id: string, state = "pending") => ({ id, name: id, state });
const begun = {
  id: "w1",
  state: "running",
  steps: [step("find"), step("compare"), step("recommend")],
  workflow: { id: "reviews:vendor_finder", toolset_id: "reviews", steps: [] },
} as unknown as WorkflowInstanceState;

test("an instance follows the events of its turn", () => {
  let i = applyEvent(begun, { instance: "w1", step: "find", state: "running" }, at);
  expect(i.steps[0]).toMatchObject({ state: "running", started_at: at });
  i = applyEvent(i, { instance: "w1", step: "find", state: "done", data: { names: ["Northside Movers"] } }, at);
  i = applyEvent(i, { instance: "w1", step: "find", state: "waiting" }, at);
  expect(i).toMatchObject({ state: "waiting", steps: [{ state: "done", result: { names: ["Northside Movers"] } }, { state: "pending" }, { state: "pending" }] });
  expect(progressOf(i)).toEqual({ done: 1, of: 3 });
  i = applyEvent(i, { instance: "w1", step: "compare", state: "running" }, at);
  expect(i.state).toBe("running");
  i = applyEvent(i, { instance: "w1", step: "compare", state: "failed", data: { error: "no such business" } }, at);
  expect(i).toMatchObject({ state: "failed", steps: [{}, { state: "failed", error: "no such business" }, {}] });
});

test("events of another instance, and the same again, change nothing", () => {
  expect(applyEvent(begun, { instance: "w2", step: "find", state: "running" })).toBe(begun);
  const running = applyEvent(begun, { instance: "w1", step: "find", state: "running" }, at);
  expect(applyEvent(running, { instance: "w1", step: "find", state: "running" })).toBe(running);
  expect(applyEvent(running, { instance: "w1", step: "nosuch", state: "running" })).toBe(running);
});
