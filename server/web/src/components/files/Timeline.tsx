import { Empty } from "@/components/ui/States";

export default function Timeline(_: { chatId: string; path?: string; manifestId?: string }) {
  return <Empty title="Timeline" />;
}
