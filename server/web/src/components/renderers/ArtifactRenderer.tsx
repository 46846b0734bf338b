import { lazy, Suspense } from "react";
import { Failed, Skeleton } from "@/components/ui/States";
import { useArtifact, type CallView } from "./callApi";
import { HtmlFrame, Outside } from "./Sandbox";

const McpApp = lazy(() => import("./McpApp"));

/** ArtifactRenderer is a call's own page: of a toolset, of a server of the tool's, or an MCP App. */
export function ArtifactRenderer({ call, fill }: { call: CallView; fill: boolean }) {
  const artifact = useArtifact(call.id);
  const name = call.tool_id.split(":").pop() ?? call.tool_id;
  if (artifact.isError && !artifact.data) return <Failed what="The view could not be opened" error={artifact.error} onRetry={() => void artifact.refetch()} />;
  if (!artifact.data || artifact.isFetching) return <div className={fill ? "h-full" : "h-[360px]"}>{<Skeleton lines={6} />}</div>;
  const shown = artifact.data;
  const reload = () => void artifact.refetch();
  if (!shown.url) return <Outside address={shown.external_url}>{shown.problem ?? "fettle has no second address to show pages of strangers at."}</Outside>;
  if (shown.kind === "mcp_app" && shown.app && shown.origin) {
    return (
      <Suspense fallback={<Skeleton lines={6} />}>
        <McpApp key={shown.url} callId={call.id} chatId={call.chat_id} app={shown.app} address={shown.url} origin={shown.origin} fill={fill} onReload={reload} />
      </Suspense>
    );
  }
  if (shown.kind === "frame") return <ServiceFrame address={shown.url} sandbox={shown.sandbox} external={shown.external_url} name={name} fill={fill} />;
  return <HtmlFrame key={shown.url} address={shown.url} title={`View of ${name}`} fill={fill} onReload={reload} />;
}

// What a service's page may have; never more, whatever is asked for.
const allowed = new Set(["allow-scripts", "allow-forms", "allow-same-origin"]);

function ServiceFrame({ address, sandbox, external, name, fill }: { address: string; sandbox?: string; external?: string; name: string; fill: boolean }) {
  const rights = (sandbox ?? "allow-scripts").split(" ").filter((right) => allowed.has(right));
  // On this page's own origin its scripts would reach all of it.
  if (!/^https?:\/\//.test(address) || new URL(address).origin === location.origin) return <Outside address={external}>Its address is this page&apos;s own.</Outside>;
  return (
    <iframe
      src={address}
      title={`Page of ${name}`}
      sandbox={rights.join(" ")}
      referrerPolicy="no-referrer"
      className="block w-full border-0"
      style={{ height: fill ? "100%" : 360 }}
    />
  );
}
