import McpApp from "@/components/renderers/McpApp";
import { HtmlFrame } from "@/components/renderers/Sandbox";
import { useArtifact, type ArtifactOf } from "@/components/renderers/callApi";
import type { PlanViewProps } from "@/components/renderers/PlanView";
import TablePayloadView from "@/components/panels/workspace/TablePayloadView";
import { Failed, Skeleton } from "@/components/ui/States";
import { Markdown } from "@/components/ui/Markdown";

/** PlanView draws a render plan without the page's editors and files. */
export function PlanView({ plan, of, chatId, name, text, fill }: PlanViewProps) {
  switch (plan.renderer) {
    case "html":
    case "mcp_app":
      return <Page of={of} chatId={chatId} name={name} fill={fill} />;
    case "table":
      return <TablePayloadView payload={{ type: "table", title: name, content: "", data: plan.data }} />;
    case "document":
      if (plan.content) return <div className="p-3"><Markdown text={plan.content} /></div>;
      break;
    case "code":
      if (plan.content) return <Plain text={plan.content} />;
  }
  return <Plain text={text || "The workspace of fettle shows it."} />;
}

function Plain({ text }: { text: string }) {
  return <pre className="p-3 font-mono text-[13px] break-words whitespace-pre-wrap">{text}</pre>;
}

function Page({ of, chatId, name, fill }: { of: ArtifactOf; chatId: string; name: string; fill: boolean }) {
  const artifact = useArtifact(of);
  if (artifact.isError && !artifact.data) return <Failed what="The view could not be opened" error={artifact.error} onRetry={() => void artifact.refetch()} />;
  if (!artifact.data) return <Skeleton lines={4} />;
  const { url, origin, app, problem } = artifact.data;
  const reload = () => void artifact.refetch();
  if (!url) return <Plain text={problem ?? "It has no address here."} />;
  if (app && origin) return <McpApp key={url} chatId={chatId} app={app} address={url} origin={origin} fill={fill} onReload={reload} />;
  return <HtmlFrame key={url} address={url} title={`View of ${name}`} fill={fill} onReload={reload} />;
}
