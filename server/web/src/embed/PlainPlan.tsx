import { HtmlFrame } from "@/components/renderers/Sandbox";
import { useArtifact, type ArtifactOf } from "@/components/renderers/callApi";
import type { PlanViewProps } from "@/components/renderers/PlanView";
import TablePayloadView from "@/components/panels/workspace/TablePayloadView";
import { Failed, Skeleton } from "@/components/ui/States";
import { Markdown } from "@/components/ui/Markdown";

/** PlanView draws a render plan without the page's editors and files. */
export function PlanView({ plan, of, name, text, fill }: PlanViewProps) {
  switch (plan.renderer) {
    case "html":
      return <Page of={of} name={name} fill={fill} />;
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

function Page({ of, name, fill }: { of: ArtifactOf; name: string; fill: boolean }) {
  const artifact = useArtifact(of);
  if (artifact.isError && !artifact.data) return <Failed what="The view could not be opened" error={artifact.error} onRetry={() => void artifact.refetch()} />;
  if (!artifact.data) return <Skeleton lines={4} />;
  const { url, problem } = artifact.data;
  if (!url) return <Plain text={problem ?? "It has no address here."} />;
  return <HtmlFrame key={url} address={url} title={`View of ${name}`} fill={fill} onReload={() => void artifact.refetch()} />;
}
