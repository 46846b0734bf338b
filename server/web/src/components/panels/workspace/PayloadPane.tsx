import { createElement, lazy, Suspense, useEffect, type ReactNode } from "react";
import { Skeleton } from "@/components/ui/States";
import { usePayloadHandler } from "@/lib/payloadHandlers";
import { dataOf } from "@/lib/workspace/payload";
import { useUI } from "@/lib/ui";
import { ownRenderer } from "@/lib/workspace/ownView";
import { getPayloadView } from "@/lib/workspace/workspaceRegistry";
import type { WorkspacePayload } from "@/types/chat";
import { DecisionBar } from "./DecisionBar";
import { Guard } from "./Guard";
import StandardPayloadView from "./StandardPayloadView";
import { configOf, servedFor } from "./types";
import { useDecision } from "./useDecision";
import { usePayloadTypes } from "./usePayloadTypes";
import { WithData } from "./WithData";

const OwnView = lazy(() => import("@/components/renderers/OwnView").then((m) => ({ default: m.OwnView })));

/**
 * PayloadPane shows a payload: by the page's handler, by the renderer of its toolset, by
 * everybody's handler, or by the view of its type; and below it the user's decision.
 */
export function PayloadPane({ payload, payloadId }: { payload: WorkspacePayload; payloadId?: string }) {
  const types = usePayloadTypes();
  const handler = usePayloadHandler(payload.type);
  const data = dataOf(payload);
  const served = servedFor(payload, types);
  const config = configOf(payload.type, served);
  const View = getPayloadView(payload.type);
  const { callbacks, bar } = useDecision({ payload, payloadId, handler, config });
  const width = widthOf(served?.render_options?.panelWidth ?? handler?.renderOptions?.panelWidth);
  useEffect(() => {
    useUI.setState({ panelWish: width ?? null });
    return () => void useUI.setState({ panelWish: null });
  }, [width]);
  let view: ReactNode = null;
  if (handler?.from === "page") view = handler.render(data, callbacks);
  else if (ownRenderer(payload.render_plan) !== "") view = <OwnView payload={payload} payloadId={payloadId} name={payload.title || config.label} fill />;
  else if (handler) view = handler.render(data, callbacks);
  else if (View !== StandardPayloadView) view = createElement(View, { payload, payloadId });
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="scroll-y min-h-0 flex-1">
        <div className="mx-auto h-full" style={{ maxWidth: width }}>
          <Guard what="This view can't show it" instead={<StandardPayloadView payload={payload} payloadId={payloadId} />}>
            <Suspense fallback={<Skeleton lines={8} />}>
              {view ? (
                <WithData data={data ?? { ...payload, render_plan: undefined }} text={config.editable && payload.content !== "" ? <StandardPayloadView payload={payload} payloadId={payloadId} /> : undefined}>
                  {view}
                </WithData>
              ) : (
                <StandardPayloadView payload={payload} payloadId={payloadId} />
              )}
            </Suspense>
          </Guard>
        </div>
      </div>
      {bar && <DecisionBar {...bar} />}
    </div>
  );
}

/** widthOf is a width that a toolset wishes for, within reason. */
function widthOf(panelWidth: string | undefined): number | undefined {
  const px = /^(\d{2,4})px$/.exec(panelWidth ?? "");
  return px ? Math.max(480, Math.min(1_600, Number(px[1]))) : undefined;
}
