import { useCall } from "@/components/renderers/callApi";
import { Failed, Skeleton } from "@/components/ui/States";

/** ToolCallView is a call's text. Editors and frames are the page's: a page of others has its own policy for them. */
export function ToolCallView({ callId }: { callId: string }) {
  const call = useCall(callId);
  if (call.isPending) return <Skeleton lines={4} />;
  if (call.isError) return <Failed what="The call can't be shown" error={call.error} onRetry={() => void call.refetch()} />;
  return <pre className="p-3 font-mono text-[13px] break-words whitespace-pre-wrap">{textOf(call.data.result) || call.data.error || ""}</pre>;
}

function textOf(result: unknown): string {
  return typeof result === "object" && result !== null && "text" in result && typeof result.text === "string" ? result.text : "";
}

export default ToolCallView;
