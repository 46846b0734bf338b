import { Empty } from "@/components/ui/States";

export default function ChatPanel() {
  return <Empty title="ChatPanel" />;
}
