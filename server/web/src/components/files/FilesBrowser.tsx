import { Empty } from "@/components/ui/States";

export default function FilesBrowser(_: { chatId: string; path?: string; manifestId?: string }) {
  return <Empty title="FilesBrowser" />;
}
