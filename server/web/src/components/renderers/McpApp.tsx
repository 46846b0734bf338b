import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { AppDialogs, type AppQuestion } from "./AppDialogs";
import { hostApp } from "./appHost";
import type { App } from "./callApi";
import { Gone } from "./Sandbox";

const lookAfter = 500; // ms behind a call

/**
 * McpApp is a page that speaks MCP Apps, in the sandbox proxy on another origin: of a server,
 * for a call of its tool, or of a bundle, for a payload, which has no callId.
 */
export default function McpApp({ callId, chatId, app, address, origin, fill, onReload }: { callId?: string; chatId: string; app: App; address: string; origin: string; fill: boolean; onReload(): void }) {
  const place = useRef<HTMLIFrameElement>(null);
  const loads = useRef(0);
  const [height, setHeight] = useState(360);
  const [closed, setClosed] = useState<"" | "left" | "asked">("");
  const [question, setQuestion] = useState<AppQuestion | null>(null);
  const client = useQueryClient();

  useEffect(() => {
    const frame = place.current;
    if (!frame) return;
    // What the call did is in the chat and in its files. A page may call often; one look is for many of them.
    let late = 0;
    const onCalled = () => {
      late ||= window.setTimeout(() => {
        late = 0;
        for (const key of ["workspace", "messages"]) void client.invalidateQueries({ queryKey: [key, chatId] });
      }, lookAfter);
    };
    const stop = hostApp({ frame, origin, callId, app, onCalled, onHeight: setHeight, onQuestion: setQuestion, onClose: () => setClosed("asked") });
    loads.current = 0;
    // After its host listens: the proxy says at once that it is ready.
    frame.src = address;
    return stop;
  }, [callId, chatId, app, address, origin, client]);

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
