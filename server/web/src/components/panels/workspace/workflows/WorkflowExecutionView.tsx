import type { WorkflowHandlers, WorkflowInstanceState } from "@/lib/workspace/workspaceMode";
import { JsonView } from "../JsonView";
import { Steps } from "./Steps";
import { WorkflowFrame } from "./WorkflowFrame";

/** WorkflowExecutionView shows any workflow that has no view of its own. */
export default function WorkflowExecutionView({ instance, handlers }: { instance: WorkflowInstanceState; handlers: WorkflowHandlers }) {
  const last = [...instance.steps].reverse().find((s) => s.state === "done");
  return (
    <WorkflowFrame instance={instance} handlers={handlers}>
      {/* The step that it stands at is open; another one once it goes on. */}
      <Steps key={last?.id} instance={instance} open={last?.id} />
      <details>
        <summary className="cursor-pointer rounded text-[13px] text-accent-ink">What it was started with</summary>
        <JsonView value={instance.input} depth={1} />
      </details>
    </WorkflowFrame>
  );
}
