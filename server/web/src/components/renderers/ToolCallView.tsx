/** ToolCallView shows what a call made, by its renderer. */
export function ToolCallView({ callId }: { callId: string }) {
  return <p className="p-3 text-[13px] text-muted">{callId}</p>;
}
