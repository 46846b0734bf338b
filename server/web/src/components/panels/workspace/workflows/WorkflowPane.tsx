import { createElement, Suspense } from "react";
import { Skeleton } from "@/components/ui/States";
import { getWorkflowView, type WorkflowViewProps } from "@/lib/workspace/workspaceRegistry";
import { Guard } from "../Guard";

/** WorkflowPane shows an instance by the view of its workflow. */
export function WorkflowPane({ instance, handlers }: WorkflowViewProps) {
  return (
    <Guard key={instance.id} what="The workflow can't be shown">
      <Suspense fallback={<Skeleton lines={8} />}>{createElement(getWorkflowView(instance.workflow.id), { instance, handlers })}</Suspense>
    </Guard>
  );
}
