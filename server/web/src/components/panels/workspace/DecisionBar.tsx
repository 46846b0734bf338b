import { Check, X } from "lucide-react";
import { useId, useState } from "react";
import { Button } from "@/components/ui/Button";
import { RelativeTime } from "@/components/ui/RelativeTime";
import type { Schemas } from "@/lib/api/client";
import { words } from "@/lib/workspace/read";

/** DecisionBar asks a person to accept or reject what is above it, or says what was decided. */
export function DecisionBar({
  decision,
  ready,
  busy,
  onDecide,
}: {
  decision?: Schemas["PayloadDecision"];
  ready: boolean; // the answer has ended
  busy: boolean;
  onDecide(accept: boolean, remark: string): void;
}) {
  const [remark, setRemark] = useState("");
  const id = useId();
  if (decision) return <Decided decision={decision} />;
  return (
    <div role="group" aria-label="Accept or reject" className="flex shrink-0 flex-wrap items-center justify-end gap-2 border-t border-border bg-surface px-4 py-3">
      <label htmlFor={id} className="sr-only">
        What you say to it
      </label>
      <input
        id={id}
        value={remark}
        maxLength={2_000}
        disabled={!ready || busy}
        onChange={(e) => setRemark(e.target.value)}
        placeholder={ready ? "A remark, if you have one" : "To be decided once the answer has ended"}
        className="h-8 min-w-40 flex-1 rounded-md max-[480px]:basis-full border border-border bg-bg px-3 text-[13px]"
      />
      <Button disabled={!ready || busy} onClick={() => onDecide(false, remark.trim())}>
        <X className="size-4" aria-hidden="true" />
        Reject
      </Button>
      <Button look="accent" disabled={!ready || busy} onClick={() => onDecide(true, remark.trim())}>
        <Check className="size-4" aria-hidden="true" />
        Accept
      </Button>
    </div>
  );
}

function Decided({ decision }: { decision: Schemas["PayloadDecision"] }) {
  const accepted = decision.decision === "accepted";
  const { reaction } = decision;
  const told = reaction?.tool ? `${reaction.tool} was started` : reaction?.action ? `left to the program that you use: ${words(reaction.action).toLowerCase()}` : "";
  return (
    <div role="status" className="flex shrink-0 flex-wrap items-baseline gap-x-2 border-t border-border bg-surface px-4 py-3 text-[13px]">
      <span className={accepted ? "font-medium text-good" : "font-medium text-bad"}>{accepted ? "Accepted" : "Rejected"}</span>
      <RelativeTime at={decision.decided_at ?? ""} className="text-muted" />
      {told && <span className="break-words text-muted">{told}</span>}
      {decision.remark && <span dir="auto" className="w-full break-words text-muted">“{decision.remark}”</span>}
    </div>
  );
}
