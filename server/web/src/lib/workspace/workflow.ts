import type { Schemas } from "@/lib/api/client";
import { cut, fields, text } from "./read";
import type { WorkflowEvent, WorkflowInstanceState } from "./workspaceMode";

export type StepState = Schemas["StepState"];

/** applyEvent brings an instance up to an event of its turn, as the server does it. */
export function applyEvent(instance: WorkflowInstanceState, event: WorkflowEvent, now = new Date().toISOString()): WorkflowInstanceState {
  if (event.instance !== instance.id) return instance;
  if (event.state === "waiting" || event.state === "complete") return instance.state === event.state ? instance : { ...instance, state: event.state, updated_at: now };
  const steps = instance.steps.map((s) => (s.id === event.step ? stepAfter(s, event, now) : s));
  if (steps.every((s, i) => s === instance.steps[i])) return instance;
  const state = event.state === "failed" ? "failed" : "running";
  return { ...instance, steps, state: over(instance) ? instance.state : state, updated_at: now };
}

function stepAfter(step: StepState, event: WorkflowEvent, now: string): StepState {
  if (step.state === event.state) return step;
  switch (event.state) {
    case "running":
      return step.state === "done" ? step : { id: step.id, name: step.name, state: "running", started_at: now };
    case "done":
      return { ...step, state: "done", result: event.data, finished_at: now };
    case "failed":
      return { ...step, state: "failed", error: text(fields(event.data).error), finished_at: now };
    default:
      return step;
  }
}

export function over(instance: WorkflowInstanceState): boolean {
  return instance.state === "complete" || instance.state === "cancelled";
}

/** progressOf is the part of the steps that is done. */
export function progressOf(instance: WorkflowInstanceState): { done: number; of: number } {
  return { done: instance.steps.filter((s) => s.state === "done").length, of: instance.steps.length };
}

export function nameOf(workflow: { id: string; name?: string }): string {
  return cut(workflow.name || workflow.id, 200);
}

export function stepName(step: { id: string; name?: string }): string {
  return cut(step.name || step.id, 200);
}

/** resultOf is what a step gave: an agent's words, or a tool's data. */
export function resultOf(instance: WorkflowInstanceState, id: string): unknown {
  return instance.steps.find((s) => s.id === id)?.result;
}
