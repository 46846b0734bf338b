import { lazy, Suspense } from "react";
import { MarkdownFile } from "@/components/files/TextFile";
import { Skeleton } from "@/components/ui/States";
import { ArtifactRenderer } from "./ArtifactRenderer";
import type { ArtifactOf, CallView } from "./callApi";
import { Code } from "./code";
import { FileRenderer } from "./FileRenderer";
import { PlainOutput } from "./PlainOutput";
import type { Plan } from "./plan";

const TablePayloadView = lazy(() => import("@/components/panels/workspace/TablePayloadView"));

export interface PlanViewProps {
  plan: Plan;
  /** what is shown: a call, or a payload of a chat */
  of: ArtifactOf;
  chatId: string;
  /** a word for what is shown, for labels and files */
  name: string;
  /** the text that is shown where the plan draws nothing */
  text: string;
  call?: CallView;
  fill: boolean;
}

/** PlanView draws what a render plan says, for calls and payloads alike. */
export function PlanView({ plan, of, chatId, name, text, call, fill }: PlanViewProps) {
  switch (plan.renderer) {
    case "code":
      if (plan.file) return <FileRenderer chatId={chatId} callId={call?.id} path={plan.file} editable={plan.editable} language={plan.language} />;
      return plan.content ? <Code value={plan.content} label={`Output of ${name}`} language={plan.language} readOnly wrap={plan.language === "text"} /> : <PlainOutput fill={fill} text={text} name={name} />;
    case "document":
      if (plan.file) return <FileRenderer chatId={chatId} callId={call?.id} path={plan.file} editable={plan.editable} document />;
      return <MarkdownFile text={plan.content ?? ""} readOnly />;
    case "table":
      return (
        <Suspense fallback={<Skeleton lines={6} />}>
          <TablePayloadView payload={{ type: "table", title: name, content: "", data: plan.data }} />
        </Suspense>
      );
    case "html":
    case "mcp_app":
    case "frame":
      return <ArtifactRenderer of={of} name={name} call={call} fill={fill} />;
    case "none":
      return <PlainOutput fill={fill} text={text} name={name} />;
  }
}
