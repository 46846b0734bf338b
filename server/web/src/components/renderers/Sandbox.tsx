import { MonitorX } from "lucide-react";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { Button } from "@/components/ui/Button";
import { Empty } from "@/components/ui/States";
import { readFrameMessage } from "./frameMessage";

const least = 80;

/**
 * HtmlFrame is a stranger's page in a frame without rights, on another origin. Its
 * place is kept before it is there. A page that goes somewhere else is taken away:
 * what it carried along would have left the machine.
 */
export function HtmlFrame({ address, title, fill, height = 360, onReload }: { address: string; title: string; fill: boolean; height?: number; onReload(): void }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const loads = useRef(0);
  const [gone, setGone] = useState(false);
  const [size, setSize] = useState(height);
  useEffect(() => {
    const hear = (event: MessageEvent) => {
      if (!frame.current || event.source !== frame.current.contentWindow || event.origin !== "null") return;
      const message = readFrameMessage(event.data);
      if (message?.type === "resize") setSize(Math.max(least, Math.min(message.height, 640)));
    };
    window.addEventListener("message", hear);
    return () => window.removeEventListener("message", hear);
  }, []);
  if (gone) return <Gone onReload={onReload} />;
  return (
    <iframe
      ref={frame}
      src={address}
      title={title}
      sandbox="allow-scripts"
      referrerPolicy="no-referrer"
      className="block w-full border-0"
      style={{ height: fill ? "100%" : size }}
      onLoad={() => {
        loads.current++;
        if (loads.current > 1) setGone(true);
      }}
    />
  );
}

/** Gone stands where a page has left its address, or asked to be closed. */
export function Gone({ onReload, asked = false }: { onReload(): void; asked?: boolean }) {
  return (
    <Empty icon={<MonitorX />} title="This view was closed" action={<Button onClick={onReload}>Show it again</Button>}>
      {asked ? "It asked for that." : "It tried to go to another address."}
    </Empty>
  );
}

/** Outside offers an address that isn't shown here; the person sees all of it first. */
export function Outside({ address, children }: { address?: string; children: ReactNode }) {
  const safe = address && /^https?:\/\//i.test(address) ? address : undefined;
  return (
    <Empty
      icon={<MonitorX />}
      title="It can't be shown here"
      action={
        safe && (
          <a href={safe} target="_blank" rel="noopener noreferrer nofollow" className="max-w-full rounded-md border border-border px-3 py-1.5 text-[13px] break-all text-accent-ink hover:bg-raised">
            Open {safe} in a tab
          </a>
        )
      }
    >
      {children}
    </Empty>
  );
}
