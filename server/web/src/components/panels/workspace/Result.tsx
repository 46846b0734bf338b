import { lazy, Suspense, type ReactNode } from "react";
import { Empty, Skeleton } from "@/components/ui/States";
import { useUI } from "@/lib/ui";
import { payloadKey } from "@/lib/workspace/edits";
import { EmptyWorkspace } from "./EmptyWorkspace";
import { Guard } from "./Guard";
import type { Shown } from "./useShown";

// A first look shows no result.
const PayloadPane = lazy(() => import("./PayloadPane").then((m) => ({ default: m.PayloadPane })));
const ToolCallView = lazy(() => import("@/components/renderers/ToolCallView").then((m) => ({ default: m.ToolCallView })));
const ToolHistory = lazy(() => import("./ToolHistory").then((m) => ({ default: m.ToolHistory })));
const WorkflowPane = lazy(() => import("./workflows/WorkflowPane").then((m) => ({ default: m.WorkflowPane })));

interface Props {
  shown: Shown;
  onStart(): void;
}

/** Result draws the workspace's mode (document 000's switch). */
export function Result(props: Props) {
  return (
    <Suspense fallback={<Skeleton lines={8} />}>
      <Mode {...props} />
    </Suspense>
  );
}

function Mode({ shown, onStart }: Props) {
  const place = useUI((s) => s.chat);
  const { mode } = shown;
  switch (mode.mode) {
    case "empty":
      return <EmptyWorkspace onStart={onStart} />;
    case "workflow_loading":
      return <Skeleton lines={8} />;
    case "workflow":
      return (
        <Scroll>
          <WorkflowPane instance={mode.instance} handlers={mode.handlers} />
        </Scroll>
      );
    case "tool":
      return mode.tool.call_id ? (
        <Guard key={mode.tool.call_id} what="The call can't be shown">
          <ToolCallView callId={mode.tool.call_id} />
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

function Scroll({ children }: { children: ReactNode }) {
  return <div className="scroll-y h-full">{children}</div>;
}
