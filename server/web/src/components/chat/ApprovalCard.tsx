import { ShieldQuestion } from "lucide-react";
import { lazy, Suspense, useId, useState } from "react";
import { Button, useSettled } from "@/components/ui/Button";
import { explain } from "@/lib/api/fault";
import type { Decision } from "@/lib/chat/state";
import { visible } from "@/lib/visible";
import { useChat } from "@/hooks/useGeneralChat";
import type { Approval, ApprovalForm } from "@/types/chat";
import { AllowMore } from "./decision";
import { isCut, Proposed } from "./Proposed";
import { TimeLeft } from "./TimeLeft";
import { ToolIcon } from "./toolIcon";

const QuestionCard = lazy(() => import("./QuestionCard").then((m) => ({ default: m.QuestionCard })));
const ReviewCard = lazy(() => import("./ReviewCard").then((m) => ({ default: m.ReviewCard })));

/** Approvals are the calls that wait for a person, where the answer is read. */
export function Approvals({ approvals }: { approvals: Approval[] }) {
  return approvals.map((a) => {
    if (a.form) return <Question key={a.tool_use_id} approval={a} form={a.form} />;
    if (a.review)
      return (
        <Suspense key={a.tool_use_id} fallback={null}>
          <ReviewCard approval={a} review={a.review} />
        </Suspense>
      );
    return <ApprovalCard key={a.tool_use_id} approval={a} />;
  });
}

/** Question is a question of a call. What shows it is loaded with the first one. */
export function Question(props: { approval: Approval; form: ApprovalForm }) {
  return (
    <Suspense fallback={null}>
      <QuestionCard {...props} />
    </Suspense>
  );
}

function ApprovalCard({ approval }: { approval: Approval }) {
  const confirm = useChat((s) => s.confirm);
  const settled = useSettled();
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const id = useId();
  const [whole, setWhole] = useState(false);
  const args = approval.arguments ?? [];
  const ready = settled && !busy && Boolean(approval.nonce);
  // A yes is to all of the call, so that all of it has to be shown first.
  const mayAllow = ready && (whole || !isCut(args));

  async function decide(decision: Decision) {
    setBusy(true);
    setProblem("");
    try {
      await confirm(approval, decision, decision === "deny" ? reason.trim() || undefined : undefined);
    } catch (error) {
      setProblem(explain(error).message);
      setBusy(false);
    }
  }

  return (
    <section aria-labelledby={`${id}-title`} className="@container my-2 overflow-hidden rounded-lg border border-accent bg-surface text-[13px]">
      <p className="sr-only" role="alert">{`${approval.tool} needs your approval`}</p>
      <div className="flex items-center gap-2 px-3 py-2">
        <ShieldQuestion className="size-4 shrink-0 text-accent-ink" aria-hidden="true" />
        <p id={`${id}-title`} className="min-w-0 flex-1 font-medium">
          <ToolIcon tool={approval.tool} className="mr-1 inline size-4 text-muted" />
          {approval.tool} needs your approval
        </p>
        {approval.expires_at && <TimeLeft until={approval.expires_at} />}
      </div>
      <Proposed args={args} whole={whole} onWhole={() => setWhole(true)} />
      <div className="flex flex-col gap-2 border-t border-border px-3 py-2">
        {approval.reason && <p className="text-muted">{visible(approval.reason[0]?.toUpperCase() + approval.reason.slice(1))}.</p>}
        {approval.reach && <p className="text-muted">It may {visible(approval.reach)}.</p>}
        {problem && <p role="alert" className="text-bad">{problem}</p>}
        <div className="flex flex-wrap items-center justify-end gap-2">
          <input
            aria-label="Reason for a denial, told to the model"
            placeholder="Reason, if you deny it"
            maxLength={2000}
            value={reason}
            onChange={(e) => setReason(e.target.value)}
            className="h-8 min-w-32 flex-1 basis-full rounded-md @min-[480px]:basis-0 border border-border bg-bg px-2 placeholder:text-muted"
          />
          <Button disabled={!ready} onClick={() => void decide("deny")}>
            Deny
          </Button>
          {approval.rule && <AllowMore disabled={!mayAllow} onDecide={(decision) => void decide(decision)} />}
          <Button look="accent" disabled={!mayAllow} onClick={() => void decide("allow")}>
            Allow once
          </Button>
        </div>
        {approval.rule && (
          <p className="font-mono text-xs break-all text-muted">
            <span className="font-sans">More allows what matches </span>
            {approval.rule_text ?? visible(approval.rule)}
          </p>
        )}
      </div>
    </section>
  );
}
