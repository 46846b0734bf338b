import { ExternalLink, MonitorStop, RotateCw, Square } from "lucide-react";
import { useEffect, useState } from "react";
import { Button, IconButton } from "@/components/ui/Button";
import { Empty, Skeleton } from "@/components/ui/States";
import { Outside } from "./Sandbox";
import type { CallRef } from "./callApi";
import { frameOf, useService, type ServiceArtifact } from "./serviceApi";

/** ServiceView is the page of a tool that lives on after its call, or what has become of it. */
export function ServiceView({ call, shown, fill, onReload }: { call: CallRef; shown: ServiceArtifact; fill: boolean; onReload(): void }) {
  const { state, stop, again } = useService(call, shown.service);
  const name = call.tool_id.split(":").pop() ?? call.tool_id;
  if (state.state !== "running") {
    return (
      <Empty
        icon={<MonitorStop />}
        title="The service has ended"
        action={
          state.again && (
            <Button look="accent" disabled={again.isPending} onClick={() => again.mutate()}>
              <RotateCw className="size-4" aria-hidden="true" />
              Start again
            </Button>
          )
        }
      >
        {state.why ? `${sentence(state.why)}. ` : ""}
        {state.again ? "Starting it again makes the same call once more; what it kept in memory is gone." : "Its tool can't be called any more."}
      </Empty>
    );
  }
  const frame = frameOf(shown);
  if (!frame) {
    return shown.url ? <Outside>Its address is this page&apos;s own.</Outside> : <Outside>{shown.problem ?? "It has no address here."}</Outside>;
  }
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex h-9 shrink-0 items-center gap-1 border-b border-border px-2 text-[13px] text-muted">
        <span className="min-w-0 flex-1 truncate">{state.own_network ? "Running in its sandbox" : "Running; other programs here can reach it"}</span>
        <IconButton label="Load the page again" onClick={onReload}>
          <RotateCw />
        </IconButton>
        <a href={frame.address} target="_blank" rel="noopener noreferrer" className="inline-flex h-7 items-center gap-1.5 rounded-md px-2 hover:bg-raised hover:text-ink">
          <ExternalLink className="size-4" aria-hidden="true" />
          Open in a tab
        </a>
        <Button size="small" look="quiet" disabled={stop.isPending} onClick={() => stop.mutate()}>
          <Square className="size-3.5" aria-hidden="true" />
          Stop service
        </Button>
      </div>
      <Frame key={frame.address} {...frame} title={`Page of ${name}`} fill={fill} />
    </div>
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Frame keeps its place while the page loads, and says so. */
function Frame({ address, rights, title, fill }: { address: string; rights: string; title: string; fill: boolean }) {
  const [loaded, setLoaded] = useState(false);
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 10_000);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="relative min-h-0 flex-1" style={fill ? undefined : { height: 360 }}>
      {!loaded && (
        <div className="absolute inset-0">
          <Skeleton lines={6} />
          {late && <p className="px-3 text-[13px] text-muted">It takes long to answer.</p>}
        </div>
      )}
      <iframe src={address} title={title} sandbox={rights} referrerPolicy="no-referrer" className="relative block size-full border-0" onLoad={() => setLoaded(true)} />
    </div>
  );
}
