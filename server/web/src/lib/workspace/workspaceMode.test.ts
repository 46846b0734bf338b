import { expect, test } from "vitest";
import { getWorkspaceMode, type WorkflowHandlers, type WorkflowInstanceState, type WorkspaceState } from "./workspaceMode";

const handlers: WorkflowHandlers = { onContinue() {}, onRetry() {}, onCancel() {}, busy: false };
const instance = { id: "w", state: "running", steps: [], workflow: { id: "reviews:vendor_finder", steps: [], toolset_id: "reviews" } } as unknown as WorkflowInstanceState;
const tool = { tool_name: "t", input: {}, output: "", call_id: "c" };
const all: WorkspaceState = {
  workflowInstance: instance,
  workflowHandlers: handlers,
  isWorkflowProcessing: true,
  selectedTool: tool,
  selectedToolHistory: [tool],
  activePayload: { type: "draft", title: "", content: "" },
};

test("the mode is the first that there is, in document 000's order", () => {
  expect(getWorkspaceMode({ ...all, workflowInstance: null }).mode).toBe("workflow_loading");
  expect(getWorkspaceMode({ ...all, workflowInstance: null, isWorkflowProcessing: false, currentWorkflowEvent: { instance: "w", step: "s", state: "running" } }).mode).toBe("workflow_loading");
  expect(getWorkspaceMode(all).mode).toBe("workflow");
  const without: WorkspaceState = { ...all, workflowInstance: null, isWorkflowProcessing: false };
  expect(getWorkspaceMode(without).mode).toBe("tool");
  expect(getWorkspaceMode({ ...without, selectedTool: null }).mode).toBe("tool_history");
  expect(getWorkspaceMode({ ...without, selectedTool: null, selectedToolHistory: null }).mode).toBe("payload");
  expect(getWorkspaceMode({}).mode).toBe("empty");
});

test("an answer without calls has a history all the same", () => {
  expect(getWorkspaceMode({ selectedToolHistory: [] })).toEqual({ mode: "tool_history", history: [] });
});
