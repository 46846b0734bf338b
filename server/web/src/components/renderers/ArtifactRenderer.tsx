import { lazy, Suspense } from "react";
import { Failed, Skeleton } from "@/components/ui/States";
import { useArtifact, type CallView } from "./callApi";
import { HtmlFrame, Outside } from "./Sandbox";
import { ServiceView } from "./ServiceView";

const McpApp = lazy(() => import("./McpApp"));

/** ArtifactRenderer is a call's own page: of a toolset, of a server of the tool's, or an MCP App. */
export function ArtifactRenderer({ call, fill }: { call: CallView; fill: boolean }) {
  const artifact = useArtifact(call.id);
  const name = call.tool_id.split(":").pop() ?? call.tool_id;
  if (artifact.isError && !artifact.data) return <Failed what="The view could not be opened" error={artifact.error} onRetry={() => void artifact.refetch()} />;
  if (!artifact.data || artifact.isFetching) return <div className={fill ? "h-full" : "h-[360px]"}>{<Skeleton lines={6} />}</div>;
  const shown = artifact.data;
  const reload = () => void artifact.refetch();
  const { service } = shown;
  if (service) return <ServiceView call={call} shown={{ ...shown, service }} fill={fill} onReload={reload} />;
  if (!shown.url) return <Outside address={shown.external_url}>{shown.problem ?? "fettle has no second address to show pages of strangers at."}</Outside>;
  if (shown.kind === "mcp_app" && shown.app && shown.origin) {
    return (
      <Suspense fallback={<Skeleton lines={6} />}>
        <McpApp key={shown.url} callId={call.id} chatId={call.chat_id} app={shown.app} address={shown.url} origin={shown.origin} fill={fill} onReload={reload} />
      </Suspense>
    );
  }
  return <HtmlFrame key={shown.url} address={shown.url} title={`View of ${name}`} fill={fill} onReload={reload} />;
}
