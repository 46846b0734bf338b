import { Check, X } from "lucide-react";
import { useId, useState } from "react";
import { Button } from "@/components/ui/Button";
import { RelativeTime } from "@/components/ui/RelativeTime";
import type { Schemas } from "@/lib/api/client";
import { cn } from "@/lib/cn";
import { words } from "@/lib/workspace/read";

interface Props {
  decision?: Schemas["PayloadDecision"];
  ready: boolean; // the answer has ended
  busy: boolean;
  onDecide(accept: boolean, remark?: string): void;
  /** in a card of the chat: the buttons alone; the panel takes a remark, too */
  small?: boolean;
}

/** DecisionBar asks the user to accept or reject the payload above it, or shows the decision. */
export function DecisionBar({ decision, ready, busy, onDecide, small = false }: Props) {
  const [remark, setRemark] = useState("");
  const id = useId();
  const room = small ? "px-3 py-1.5" : "px-4 py-3";
  if (decision) return <Decided decision={decision} room={room} />;
  const button = { size: small ? "small" : "normal", disabled: !ready || busy } as const;
  return (
    <div role="group" aria-label="Accept or reject" className={cn("flex shrink-0 flex-wrap items-center justify-end gap-2 border-t border-border bg-surface", room)}>
      {!small && (
        <>
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
        </>
      )}
      <Button {...button} onClick={() => onDecide(false, remark.trim())}>
        <X className="size-4" aria-hidden="true" />
        Reject
      </Button>
      <Button {...button} look="accent" onClick={() => onDecide(true, remark.trim())}>
        <Check className="size-4" aria-hidden="true" />
        Accept
      </Button>
    </div>
  );
}

function Decided({ decision, room }: { decision: Schemas["PayloadDecision"]; room: string }) {
  const accepted = decision.decision === "accepted";
  const { reaction } = decision;
  const told = reaction?.tool ? `${reaction.tool} was started` : reaction?.action ? `left to the program that you use: ${words(reaction.action).toLowerCase()}` : "";
  return (
    <div role="status" className={cn("flex shrink-0 flex-wrap items-baseline gap-x-2 border-t border-border bg-surface text-[13px]", room)}>
      <span className={accepted ? "font-medium text-good" : "font-medium text-bad"}>{accepted ? "Accepted" : "Rejected"}</span>
      <RelativeTime at={decision.decided_at ?? ""} className="text-muted" />
      {told && <span className="break-words text-muted">{told}</span>}
      {decision.remark && <span dir="auto" className="w-full break-words text-muted">“{decision.remark}”</span>}
    </div>
  );
}
