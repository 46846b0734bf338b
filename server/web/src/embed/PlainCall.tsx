import { useQuery } from "@tanstack/react-query";
import { Failed, Skeleton } from "@/components/ui/States";
import { request } from "@/lib/api/client";

/** ToolCallView is a call's text. Editors and frames are the page's: a page of others has its own policy for them. */
export function ToolCallView({ callId }: { callId: string }) {
  const call = useQuery({
    queryKey: ["call", callId],
    queryFn: async () => (await (await request(`/api/tool-calls/${encodeURIComponent(callId)}`)).json()) as { call: { result?: { text?: string } } },
  });
  if (call.isPending) return <Skeleton lines={4} />;
  if (call.isError) return <Failed what="The call can't be shown" error={call.error} onRetry={() => void call.refetch()} />;
  return <pre className="p-3 font-mono text-[13px] break-words whitespace-pre-wrap">{call.data.call.result?.text ?? ""}</pre>;
}

export default ToolCallView;
