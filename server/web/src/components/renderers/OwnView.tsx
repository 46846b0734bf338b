import { Hourglass } from "lucide-react";
import { lazy, Suspense } from "react";
import { usePayloads } from "@/components/panels/workspace/useDecision";
import { Empty, Failed, Skeleton } from "@/components/ui/States";
import { useChat } from "@/hooks/useGeneralChat";
import { isWhole } from "@/lib/workspace/ownView";
import type { WorkspacePayload } from "@/types/chat";
import { readPlan } from "./plan";

const PlanView = lazy(() => import("./PlanView").then((m) => ({ default: m.PlanView })));

interface Props {
  payload: WorkspacePayload;
  payloadId?: string;
  name: string;
  fill: boolean;
}

/** OwnView draws a payload by the renderer that its toolset gave its type. */
export function OwnView({ payload, payloadId, name, fill }: Props) {
  const chatId = useChat((s) => s.chatId);
  const all = usePayloads(payloadId ? chatId : null);
  const listed = all.data?.find((p) => p.id === payloadId);
  const plan = isWhole(payload.render_plan) ? payload.render_plan : listed?.render_plan;
  const { plan: read, problems } = readPlan(plan);
  // The server has a page for it once its answer is stored.
  const waits = plan === undefined || (["html", "mcp_app", "frame"].includes(read.renderer) && !listed);
  if (waits && all.isError) return <Failed what="The view could not be read" error={all.error} onRetry={() => void all.refetch()} />;
  if (waits || !chatId) {
    return (
      <Empty icon={<Hourglass />} title="Not recorded yet">
        The view is shown here when its answer has ended.
      </Empty>
    );
  }
  return (
    <div data-own-view="" className="flex h-full min-h-0 flex-col">
      {problems.slice(0, 5).map((problem) => (
        <p key={problem} className="border-b border-border px-3 py-1.5 text-[13px] break-words text-warn">
          {problem}
        </p>
      ))}
      <div className="min-h-0 flex-1">
        <Suspense fallback={<Skeleton lines={6} />}>
          <PlanView plan={read} of={{ chatId, payloadId: payloadId ?? "" }} chatId={chatId} name={name} text={payload.content} fill={fill} />
        </Suspense>
      </div>
    </div>
  );
}
