import { useEffect, useId, useRef } from "react";
import type { PayloadCallbacks, PayloadHandler } from "@/lib/payloadHandlers";
import type { EmbedHandler } from "./types";

/** Foreign shows what a page's own handler made. It stands in the page's tree, so that the page's styles hold, and shows through a slot. */
function Foreign({ handler, payload, callbacks, host }: { handler: EmbedHandler; payload: unknown; callbacks: PayloadCallbacks; host: HTMLElement }) {
  const slot = "fettle" + useId();
  // Callbacks are others in each drawing; the page's node is made once for a payload.
  const latest = useRef(callbacks);
  useEffect(() => {
    latest.current = callbacks;
  });
  useEffect(() => {
    const box = document.createElement("div");
    box.slot = slot;
    const made = handler.render(payload, {
      onAccept: (data) => latest.current.onAccept?.(data),
      onReject: (data) => latest.current.onReject?.(data),
    });
    if (made instanceof Node) box.append(made);
    else if (made !== null && made !== undefined) box.textContent = String(made);
    host.append(box);
    return () => box.remove();
  }, [handler, payload, slot, host]);
  return <slot name={slot} />;
}

/** adopted is a page's handler as the chat's own views are. */
export function adopted(handler: EmbedHandler, host: HTMLElement): PayloadHandler {
  return {
    render: (payload, callbacks) => <Foreign handler={handler} payload={payload} callbacks={callbacks} host={host} />,
    renderOptions: handler.renderOptions,
    onAccept: handler.onAccept?.bind(handler),
    onReject: handler.onReject?.bind(handler),
  };
}
