import { lazy, type ComponentType } from "react";
import StandardPayloadView from "@/components/panels/workspace/StandardPayloadView";
import WorkflowExecutionView from "@/components/panels/workspace/workflows/WorkflowExecutionView";
import type { WorkspacePayload } from "@/types/chat";
import { own } from "./read";
import type { WorkflowHandlers, WorkflowInstanceState } from "./workspaceMode";

export interface PayloadViewProps {
  payload: WorkspacePayload;
  /** the id that the server has of it; nothing while its answer is being made */
  payloadId?: string;
}

export interface WorkflowViewProps {
  instance: WorkflowInstanceState;
  handlers: WorkflowHandlers;
}

export type PayloadViewRegistry = Record<string, ComponentType<PayloadViewProps>>;
export type WorkflowViewRegistry = Record<string, ComponentType<WorkflowViewProps>>;

// A view is loaded when something of its type is shown.
const AgentPayloadView = lazy(() => import("@/components/panels/workspace/AgentPayloadView"));
const TablePayloadView = lazy(() => import("@/components/panels/workspace/TablePayloadView"));
const ResearchWorkflowView = lazy(() => import("@/components/panels/workspace/ResearchWorkflowView"));
const ResearchResultView = lazy(() => import("@/components/panels/workspace/ResearchResultView"));
const ReviewCollectionView = lazy(() => import("@/components/panels/workspace/ReviewCollectionView"));
const ReviewAnalysisView = lazy(() => import("@/components/panels/workspace/ReviewAnalysisView"));
const EntityVerificationView = lazy(() => import("@/components/panels/workspace/EntityVerificationView"));
const WorkflowGraphView = lazy(() => import("@/components/panels/workspace/WorkflowGraphView"));
const ToolHistoryPayloadView = lazy(() => import("@/components/panels/workspace/ToolHistoryPayloadView"));

export const payloadViewRegistry: PayloadViewRegistry = {
  agent_create: AgentPayloadView,
  agent_update: AgentPayloadView,
  table: TablePayloadView,
  research: ResearchWorkflowView,
  research_result: ResearchResultView,
  review_collection: ReviewCollectionView,
  review_analysis: ReviewAnalysisView,
  entity_verification: EntityVerificationView,
  workflow_graph: WorkflowGraphView,
  tool_history: ToolHistoryPayloadView,
  // draft, summary, data, code and what nobody knows: StandardPayloadView
};

const VendorFinderWorkflowView = lazy(() => import("@/components/panels/workspace/workflows/VendorFinderWorkflowView"));
const ResearchRunView = lazy(() => import("@/components/panels/workspace/workflows/ResearchRunView"));

export const workflowViewRegistry: WorkflowViewRegistry = {
  vendor_finder: VendorFinderWorkflowView,
  research: ResearchRunView,
  // others: WorkflowExecutionView
};

export function getPayloadView(payloadType: string): ComponentType<PayloadViewProps> {
  return own(payloadViewRegistry, payloadType) ?? StandardPayloadView;
}

/** getWorkflowView knows a workflow by its id, with its toolset before it or without. */
export function getWorkflowView(workflowId: string): ComponentType<WorkflowViewProps> {
  return own(workflowViewRegistry, workflowId) ?? own(workflowViewRegistry, workflowId.slice(workflowId.lastIndexOf(":") + 1)) ?? WorkflowExecutionView;
}
