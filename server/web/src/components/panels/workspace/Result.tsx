import { createElement, lazy, Suspense } from "react";
import { Empty, Skeleton } from "@/components/ui/States";
import { useUI } from "@/lib/ui";
import { payloadKey } from "@/lib/workspace/edits";
import { getWorkflowView } from "@/lib/workspace/workspaceRegistry";
import { EmptyWorkspace } from "./EmptyWorkspace";
import { Guard } from "./Guard";
import { PayloadPane } from "./PayloadPane";
import { ToolHistory } from "./ToolHistory";
import type { Shown } from "./useShown";
import { useWorkflows } from "./workflows/useWorkflows";

const ToolCallView = lazy(() => import("@/components/renderers/ToolCallView").then((m) => ({ default: m.ToolCallView })));

/** Result draws the workspace's mode (document 000's switch). */
export function Result({ shown, onStart }: { shown: Shown; onStart(): void }) {
  const workflows = useWorkflows().data?.length ?? 0;
  const place = useUI((s) => s.chat);
  const { mode } = shown;
  switch (mode.mode) {
    case "empty":
      return <EmptyWorkspace onStart={onStart} workflows={workflows} />;
    case "workflow_loading":
      return <Skeleton lines={8} />;
    case "workflow":
      return (
        <Scroll>
          <Guard key={mode.instance.id} what="The workflow can't be shown">
            <Suspense fallback={<Skeleton lines={8} />}>{createElement(getWorkflowView(mode.instance.workflow.id), { instance: mode.instance, handlers: mode.handlers })}</Suspense>
          </Guard>
        </Scroll>
      );
    case "tool":
      return mode.tool.call_id ? (
        <Guard key={mode.tool.call_id} what="The call can't be shown">
          <Suspense fallback={<Skeleton lines={8} />}>
            <ToolCallView callId={mode.tool.call_id} />
          </Suspense>
        </Guard>
      ) : (
        <Empty title="This call was not kept" />
      );
    case "tool_history":
      return (
        <Scroll>
          <ToolHistory calls={mode.history} />
        </Scroll>
      );
    case "payload":
      return <PayloadPane key={shown.payloadId ?? `${place} ${payloadKey(mode.payload)}`} payload={mode.payload} payloadId={shown.payloadId} />;
  }
}

function Scroll({ children }: { children: React.ReactNode }) {
  return <div className="scroll-y h-full">{children}</div>;
}
