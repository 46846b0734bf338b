import { PanelRight } from "lucide-react";
import { createElement, lazy, Suspense, useEffect, useRef, useState, type ReactNode } from "react";
import { DecisionBar } from "@/components/panels/workspace/DecisionBar";
import { Guard } from "@/components/panels/workspace/Guard";
import { configOf, servedFor } from "@/components/panels/workspace/types";
import { useDecision } from "@/components/panels/workspace/useDecision";
import { usePayloadTypes } from "@/components/panels/workspace/usePayloadTypes";
import { Button } from "@/components/ui/Button";
import { Skeleton } from "@/components/ui/States";
import { cn } from "@/lib/cn";
import { usePayloadHandler } from "@/lib/payloadHandlers";
import { useUI } from "@/lib/ui";
import { ownRenderer } from "@/lib/workspace/ownView";
import type { WorkspacePayload } from "@/types/chat";

const OwnView = lazy(() => import("@/components/renderers/OwnView").then((m) => ({ default: m.OwnView })));

/**
 * PayloadCard is a payload below its answer, with the view that its toolset gave its type and
 * the decision about it.
 */
export function PayloadCard({ payload, payloadId, chatId }: { payload: WorkspacePayload; payloadId?: string; chatId: string | null }) {
  const types = usePayloadTypes();
  const look = configOf(payload.type, servedFor(payload, types));
  const renderer = ownRenderer(payload.render_plan);
  const sized = renderer === "html" || renderer === "mcp_app"; // by the page itself
  const { title } = payload;
  const { bar } = useDecision({ payload, payloadId, handler: usePayloadHandler(payload.type), config: look });
  return (
    <li className={cn("flex max-w-full min-w-0 flex-col overflow-hidden rounded-lg border border-border bg-surface text-[13px]", renderer && "w-full")}>
      <div className="flex items-center gap-3 py-1 pr-1 pl-3">
        <span className={cn("shrink-0", look.color)} style={look.tint ? { color: look.tint } : undefined} aria-hidden="true">
          {createElement(look.icon, { className: "size-4" })}
        </span>
        <span className="min-w-0 flex-1">
          <span dir="auto" className="block truncate font-medium">{title || look.label}</span>
          {title && title !== look.label && <span className="block truncate text-xs text-muted">{look.label}</span>}
        </span>
        <Button size="small" look="quiet" onClick={() => useUI.getState().select({ kind: "payload", payload, chatId: chatId ?? "", payloadId })}>
          <PanelRight className="size-4" aria-hidden="true" />
          Open in workspace
        </Button>
      </div>
      {renderer && (
        <Near className={cn("border-t border-border bg-bg", sized ? "min-h-20" : "h-80 overflow-auto")}>
          <Guard what="This view can't show it">
            <Suspense fallback={<Skeleton lines={4} />}>
              <OwnView payload={payload} payloadId={payloadId} name={title || look.label} fill={!sized} />
            </Suspense>
          </Guard>
        </Near>
      )}
      {bar && <DecisionBar {...bar} small />}
    </li>
  );
}

/** Near draws its children once the user comes near them: an answer may have dozens of views. */
function Near({ className, children }: { className: string; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [near, setNear] = useState(false);
  useEffect(() => {
    if (near || !box.current) return;
    const watch = new IntersectionObserver((seen) => seen.some((s) => s.isIntersecting) && setNear(true), { rootMargin: "300px" });
    watch.observe(box.current);
    return () => watch.disconnect();
  }, [near]);
  return (
    <div ref={box} className={className}>
      {near && children}
    </div>
  );
}
