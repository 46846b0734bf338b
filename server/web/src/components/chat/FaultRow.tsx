import { TriangleAlert, X } from "lucide-react";
import { Button, IconButton } from "@/components/ui/Button";
import { Words } from "@/components/ui/Words";
import { useChat } from "@/hooks/useGeneralChat";
import type { ChatFault } from "@/types/chat";

/** FaultRow is why no answer began, with what can be done. */
export function FaultRow({ fault }: { fault: ChatFault }) {
  const { dismiss, retry, last } = useChat((s) => ({ dismiss: s.dismissFault, retry: s.retry, last: s.messages.at(-1) }));
  return (
    <div role="alert" className="flex items-start gap-2 rounded-lg border border-bad bg-bg p-3 text-[13px]">
      <TriangleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden="true" />
      <div className="max-h-20 min-w-0 flex-1 overflow-y-auto break-words">
        <p>{fault.message}</p>
        {fault.hints.map((hint) => (
          <p key={hint} className="mt-1 whitespace-pre-wrap text-muted">
            <Words>{hint}</Words>
          </p>
        ))}
      </div>
      {fault.retryable && last && !last.pending && last.role === "user" && (
        <Button size="small" onClick={() => void retry(last.id)}>
          Try again
        </Button>
      )}
      <IconButton label="Dismiss" onClick={dismiss}>
        <X />
      </IconButton>
    </div>
  );
}
