import { fields, text } from "@/lib/workspace/read";
import { resultOf } from "@/lib/workspace/workflow";
import type { WorkflowHandlers, WorkflowInstanceState } from "@/lib/workspace/workspaceMode";
import { Prose } from "../LongText";
import { Section } from "../parts";
import ResearchResultView from "../ResearchResultView";
import ResearchWorkflowView from "../ResearchWorkflowView";
import { Steps } from "./Steps";
import { WorkflowFrame } from "./WorkflowFrame";

/** ResearchRunView is research as it runs: the question, what was collected, and the checked answer. */
export default function ResearchRunView({ instance, handlers }: { instance: WorkflowInstanceState; handlers: WorkflowHandlers }) {
  const collected = resultOf(instance, "collect");
  const written = text(fields(resultOf(instance, "write")).text, 200_000);
  const checked = text(fields(resultOf(instance, "check")).text, 200_000);
  return (
    <WorkflowFrame instance={instance} handlers={handlers}>
      {(checked || written) && (
        <Section title={checked ? "Answer" : "Answer, not checked yet"}>
          <Prose text={checked || written} />
        </Section>
      )}
      <div className="-mx-4">
        {collected === undefined ? (
          <ResearchWorkflowView payload={{ type: "research", title: "", content: "", data: instance.input }} />
        ) : (
          <ResearchResultView payload={{ type: "research_result", title: "", content: "", data: collected }} />
        )}
      </div>
      <Section title="Steps">
        <Steps instance={instance} />
      </Section>
    </WorkflowFrame>
  );
}
