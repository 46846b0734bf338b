import { useEffect, useRef, useState } from "react";
import { AppDialogs, type AppQuestion } from "./AppDialogs";
import { hostApp } from "./appHost";
import type { App } from "./callApi";
import { Gone } from "./Sandbox";

/** McpApp is the view that a server's tool brings along, behind the sandbox proxy on another origin. */
export default function McpApp({ callId, app, address, origin, fill, onReload }: { callId: string; app: App; address: string; origin: string; fill: boolean; onReload(): void }) {
  const place = useRef<HTMLIFrameElement>(null);
  const loads = useRef(0);
  const [height, setHeight] = useState(360);
  const [closed, setClosed] = useState<"" | "left" | "asked">("");
  const [question, setQuestion] = useState<AppQuestion | null>(null);

  useEffect(() => {
    const frame = place.current;
    if (!frame) return;
    const stop = hostApp({ frame, origin, callId, app, onHeight: setHeight, onQuestion: setQuestion, onClose: () => setClosed("asked") });
    loads.current = 0;
    // After its host listens: the proxy says at once that it is ready.
    frame.src = address;
    return stop;
  }, [callId, app, address, origin]);

  if (closed) return <Gone onReload={onReload} asked={closed === "asked"} />;
  return (
    <>
      <iframe
        ref={place}
        title={`App of ${app.tool.title || app.tool.name}`}
        // The proxy is on an origin of its own; the view in it has none.
        sandbox="allow-scripts allow-same-origin"
        referrerPolicy="no-referrer"
        className={`block w-full bg-bg ${app.prefers_border ? "border border-border" : "border-0"}`}
        style={{ height: fill ? "100%" : height }}
        onLoad={(event) => {
          // An empty frame loads, too, before it has its address.
          if (!event.currentTarget.src) return;
          loads.current++;
          if (loads.current > 1) setClosed("left");
        }}
      />
      {question && <AppDialogs app={app} question={question} />}
    </>
  );
}
