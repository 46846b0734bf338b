import { lazy, Suspense } from "react";
import { Failed, Skeleton } from "@/components/ui/States";
import { useArtifact, type ArtifactOf, type CallRef } from "./callApi";
import { HtmlFrame, Outside } from "./Sandbox";
import { ServiceView } from "./ServiceView";

const McpApp = lazy(() => import("./McpApp"));

interface Props {
  of: ArtifactOf;
  /** of what the page is a view, for its title */
  name: string;
  /** the call that the page belongs to, where there is one */
  call?: CallRef;
  fill: boolean;
}

/** ArtifactRenderer is the page of a call or a payload: of a toolset, of a service, or an MCP App. */
export function ArtifactRenderer({ of, name, call, fill }: Props) {
  const artifact = useArtifact(of);
  if (artifact.isError && !artifact.data) return <Failed what="The view could not be opened" error={artifact.error} onRetry={() => void artifact.refetch()} />;
  if (!artifact.data || artifact.isFetching) return <div className={fill ? "h-full" : "h-[360px]"}>{<Skeleton lines={6} />}</div>;
  const shown = artifact.data;
  const reload = () => void artifact.refetch();
  const { service } = shown;
  const ofCall = call ?? (shown.call_id ? { id: shown.call_id, chat_id: shown.chat_id, tool_id: name } : undefined);
  if (service && ofCall) return <ServiceView call={ofCall} shown={{ ...shown, service }} fill={fill} onReload={reload} />;
  if (!shown.url) return <Outside address={shown.external_url}>{shown.problem ?? "fettle has no second address to show pages of strangers at."}</Outside>;
  if (shown.kind === "mcp_app" && shown.app && shown.origin) {
    return (
      <Suspense fallback={<Skeleton lines={6} />}>
        <McpApp key={shown.url} callId={shown.app.server_id ? shown.call_id : undefined} chatId={shown.chat_id} app={shown.app} address={shown.url} origin={shown.origin} fill={fill} onReload={reload} />
      </Suspense>
    );
  }
  return <HtmlFrame key={shown.url} address={shown.url} title={`View of ${name}`} fill={fill} onReload={reload} />;
}
