import type { Schemas } from "@/lib/api/client";
import type { LiveTurn } from "@/hooks/useGeneralChat";
import type { ToolCall, WorkspacePayload } from "@/types/chat";

export type WorkflowInstanceState = Schemas["WorkflowInstance"];
export type WorkflowEvent = NonNullable<LiveTurn["workflow"]>;

/** WorkflowHandlers are what a person can do with a workflow. */
export interface WorkflowHandlers {
  /** goes on behind a checkpoint */
  onContinue(): void;
  /** does the step again that failed or was interrupted */
  onRetry(): void;
  onCancel(): void;
  /** one of these is on its way */
  busy: boolean;
}

/** WorkspaceMode is what the workspace panel shows (document 000). */
export type WorkspaceMode =
  | { mode: "empty" }
  | { mode: "workflow"; instance: WorkflowInstanceState; handlers: WorkflowHandlers }
  | { mode: "workflow_loading"; handlers?: WorkflowHandlers | null }
  | { mode: "tool"; tool: ToolCall }
  | { mode: "tool_history"; history: ToolCall[] }
  | { mode: "payload"; payload: WorkspacePayload };

export interface WorkspaceState {
  workflowInstance?: WorkflowInstanceState | null;
  workflowHandlers?: WorkflowHandlers | null;
  isWorkflowProcessing?: boolean;
  currentWorkflowEvent?: WorkflowEvent | null;
  selectedTool?: ToolCall | null;
  selectedToolHistory?: ToolCall[] | null;
  activePayload?: WorkspacePayload | null;
}

/**
 * getWorkspaceMode decides by document 000's priority: a workflow that is loading,
 * a workflow, one call, the calls of an answer, a payload, and else nothing.
 */
export function getWorkspaceMode(state: WorkspaceState): WorkspaceMode {
  const { workflowInstance, workflowHandlers } = state;
  if (!workflowInstance && (state.isWorkflowProcessing || state.currentWorkflowEvent)) {
    return { mode: "workflow_loading", handlers: workflowHandlers };
  }
  if (workflowInstance && workflowHandlers) return { mode: "workflow", instance: workflowInstance, handlers: workflowHandlers };
  if (state.selectedTool) return { mode: "tool", tool: state.selectedTool };
  if (state.selectedToolHistory) return { mode: "tool_history", history: state.selectedToolHistory };
  if (state.activePayload) return { mode: "payload", payload: state.activePayload };
  return { mode: "empty" };
}
