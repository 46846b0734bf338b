import { Hourglass } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { Empty, Failed, Skeleton } from "@/components/ui/States";
import { Tabs, type Tab } from "@/components/ui/Tabs";
import { isMissing, useCall, type CallResult, type CallView } from "./callApi";
import { ErrorView } from "./ErrorView";
import { PlainOutput } from "./PlainOutput";
import { readPlan } from "./plan";
import { PlanView } from "./PlanView";

const DiffView = lazy(() => import("@/components/files/DiffView"));

export interface ToolCallViewProps {
  callId: string;
  /** in a card of the chat, which has tabs of its own: the rendered view alone */
  compact?: boolean;
}

/** ToolCallView shows a tool call in the way that its render plan says. */
export function ToolCallView({ callId, compact = false }: ToolCallViewProps) {
  const call = useCall(callId);
  if (call.data) return compact ? <Rendered call={call.data} fill /> : <Whole key={callId} call={call.data} />;
  if (isMissing(call.error)) {
    return (
      <Empty icon={<Hourglass />} title="Not recorded yet">
        The call is shown here when its turn has ended.
      </Empty>
    );
  }
  if (call.isError) return <Failed what="The tool call could not be read" error={call.error} onRetry={() => void call.refetch()} />;
  return <Skeleton lines={6} />;
}

export default ToolCallView;

function resultOf(call: CallView): CallResult {
  return typeof call.result === "object" && call.result !== null ? call.result : {};
}

function nameOf(call: CallView): string {
  return call.tool_id.split(":").pop() ?? call.tool_id;
}

type TabName = "view" | "output" | "input" | "changes";

function Whole({ call }: { call: CallView }) {
  const [tab, setTab] = useState<TabName>("view");
  const name = nameOf(call);
  const tabs: Tab<TabName>[] = [
    { id: "view", label: "View", content: <Rendered call={call} fill /> },
    { id: "output", label: "Output", content: <PlainOutput fill text={resultOf(call).text ?? call.error ?? ""} name={name} /> },
    { id: "input", label: "Input", content: <PlainOutput fill text={JSON.stringify(call.args ?? {})} name={`${name} input`} /> },
  ];
  if (call.changed > 0 && call.post_manifest_id) {
    tabs.push({
      id: "changes",
      label: "Changes",
      badge: call.changed,
      content: (
        <Suspense fallback={<Skeleton lines={6} />}>
          <DiffView chatId={call.chat_id} from={call.pre_manifest_id} to={call.post_manifest_id} />
        </Suspense>
      ),
    });
  }
  return <Tabs<TabName> label={`Call of ${name}`} tabs={tabs} value={tab} onChange={setTab} />;
}

/** Rendered is a call's view, with what its plan could not fill in. */
function Rendered({ call, fill }: { call: CallView; fill: boolean }) {
  const { problems } = readPlan(call.render_plan);
  return (
    <div className="flex h-full min-h-0 flex-col">
      {problems.length > 0 && (
        <ul className="shrink-0 border-b border-border px-3 py-1.5 text-[13px] text-warn">
          {problems.slice(0, 5).map((problem) => (
            <li key={problem} className="break-words">
              {problem}
            </li>
          ))}
        </ul>
      )}
      <div className="min-h-0 flex-1">
        <Dispatch call={call} fill={fill} />
      </div>
    </div>
  );
}

function Dispatch({ call, fill }: { call: CallView; fill: boolean }) {
  const { plan, error } = readPlan(call.render_plan);
  const text = resultOf(call).text ?? "";
  const name = nameOf(call);
  if (error) return <ErrorView message={error.message} traceback={error.traceback} />;
  if (call.status === "error") return <ErrorView message={call.error || text || "The call failed without a word."} />;
  return <PlanView plan={plan} of={{ callId: call.id }} chatId={call.chat_id} name={name} text={text} call={call} fill={fill} />;
}
