import { Empty } from "@/components/ui/States";

export default function WorkspacePanel() {
  return <Empty title="WorkspacePanel" />;
}
