import { Empty } from "@/components/ui/States";

export default function ContextPanel() {
  return <Empty title="ContextPanel" />;
}
