import { ShieldQuestion } from "lucide-react";
import { useEffect, useId, useState } from "react";
import { Button } from "@/components/ui/Button";
import { Menu } from "@/components/ui/Menu";
import { explain } from "@/lib/api/fault";
import type { Decision } from "@/lib/chat/state";
import { useChat } from "@/hooks/useGeneralChat";
import type { Approval } from "@/types/chat";
import { QuestionCard } from "./QuestionCard";
import { inputText } from "./ToolDetails";
import { TimeLeft } from "./TimeLeft";
import { ToolIcon } from "./toolIcon";

/** Approvals are the calls that wait for a person, where the answer is read. */
export function Approvals({ approvals }: { approvals: Approval[] }) {
  return approvals.map((a) => (a.form ? <QuestionCard key={a.tool_use_id} approval={a} form={a.form} /> : <ApprovalCard key={a.tool_use_id} approval={a} />));
}

// A card that appears under a finger or a pointer isn't what they meant.
const settle = 600;

/** useSettled is false for a moment after a card has appeared. */
export function useSettled(): boolean {
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), settle);
    return () => clearTimeout(timer);
  }, []);
  return settled;
}

function ApprovalCard({ approval }: { approval: Approval }) {
  const confirm = useChat((s) => s.confirm);
  const settled = useSettled();
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const id = useId();
  const ready = settled && !busy && Boolean(approval.nonce);

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
    <section aria-labelledby={`${id}-title`} className="my-2 overflow-hidden rounded-lg border border-accent bg-surface text-[13px]">
      <p className="sr-only" role="alert">{`${approval.tool} needs your approval`}</p>
      <div className="flex items-center gap-2 px-3 py-2">
        <ShieldQuestion className="size-4 shrink-0 text-accent-ink" aria-hidden="true" />
        <p id={`${id}-title`} className="min-w-0 flex-1 font-medium">
          <ToolIcon tool={approval.tool} className="mr-1 inline size-4 text-muted" />
          {approval.tool} needs your approval
        </p>
        {approval.expires_at && <TimeLeft until={approval.expires_at} />}
      </div>
      <Proposed approval={approval} />
      <div className="flex flex-col gap-2 border-t border-border px-3 py-2">
        {approval.reason && <p className="text-muted">{approval.reason[0]?.toUpperCase() + approval.reason.slice(1)}.</p>}
        {problem && <p role="alert" className="text-bad">{problem}</p>}
        <div className="flex flex-wrap items-center gap-2">
          <input
            aria-label="Reason for a denial, told to the model"
            placeholder="Reason, if you deny it"
            maxLength={2000}
            value={reason}
            onChange={(e) => setReason(e.target.value)}
            className="h-8 min-w-32 flex-1 rounded-md border border-border bg-bg px-2 placeholder:text-muted"
          />
          <Button disabled={!ready} onClick={() => void decide("deny")}>
            Deny
          </Button>
          {approval.rule && (
            <Menu
              items={[
                { label: "Allow in this chat", onSelect: () => void decide("allow_chat") },
                { label: "Always allow", onSelect: () => void decide("allow_always") },
              ]}
            >
              <Button disabled={!ready}>More</Button>
            </Menu>
          )}
          <Button look="accent" disabled={!ready} onClick={() => void decide("allow")}>
            Allow once
          </Button>
        </div>
        {approval.rule && (
          <p className="font-mono text-xs break-all text-muted">
            <span className="font-sans">More allows what matches </span>
            {approval.rule}
          </p>
        )}
      </div>
    </section>
  );
}

/** Proposed is the whole of what would run: the command, or what is written. */
function Proposed({ approval }: { approval: Approval }) {
  const { command, path, old_text, new_text, content, ...rest } = approval.input;
  const box = "max-h-80 overflow-auto border-t border-border px-3 py-2 font-mono text-xs break-words whitespace-pre-wrap";
  const focusable = { tabIndex: 0, dir: "auto" as const };
  if (typeof command === "string") {
    return (
      <>
        <pre {...focusable} className={box}>{command}</pre>
        {Object.keys(rest).length > 0 && <pre {...focusable} className={box}>{inputText(rest)}</pre>}
      </>
    );
  }
  if (typeof path === "string" && typeof old_text === "string" && typeof new_text === "string") {
    return (
      <div className="border-t border-border">
        <p className="px-3 py-2 font-mono text-xs">{path}</p>
        <pre {...focusable} aria-label="Removed" className={`${box} bg-removed`}>{old_text}</pre>
        <pre {...focusable} aria-label="Added" className={`${box} bg-added`}>{new_text}</pre>
        {Object.keys(rest).length > 0 && <pre {...focusable} className={box}>{inputText(rest)}</pre>}
      </div>
    );
  }
  if (typeof path === "string" && typeof content === "string") {
    return (
      <div className="border-t border-border">
        <p className="px-3 py-2 font-mono text-xs">{path}</p>
        <pre {...focusable} aria-label="Content" className={`${box} bg-added`}>{content}</pre>
      </div>
    );
  }
  return <pre {...focusable} className={box}>{inputText(approval.input)}</pre>;
}
