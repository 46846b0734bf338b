import { Empty } from "@/components/ui/States";

export default function ToolCallView(_: { callId: string }) {
  return <Empty title="ToolCallView" />;
}
