import { Empty } from "@/components/ui/States";

export default function Sidebar() {
  return <Empty title="Sidebar" />;
}
