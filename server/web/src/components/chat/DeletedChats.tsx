import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowLeft, RotateCcw } from "lucide-react";
import { IconButton } from "@/components/ui/Button";
import { RelativeTime } from "@/components/ui/RelativeTime";
import { Empty, Failed, Skeleton } from "@/components/ui/States";
import { api, unwrap } from "@/lib/api/client";
import { restoreChat } from "@/lib/chat/actions";
import { titleOf } from "./ChatRow";

/** DeletedChats is what can still be brought back. */
export function DeletedChats({ onBack }: { onBack(): void }) {
  return (
    <div className="flex h-full flex-col">
      <div className="flex items-center gap-1 px-1">
        <IconButton label="Back to the chats" onClick={onBack}>
          <ArrowLeft />
        </IconButton>
        <h2 className="text-[13px] font-medium">Deleted chats</h2>
      </div>
      <div className="min-h-0 flex-1">
        <List />
      </div>
    </div>
  );
}

function List() {
  const client = useQueryClient();
  const deleted = useQuery({ queryKey: ["deleted"], queryFn: async ({ signal }) => unwrap(await api.GET("/api/deleted-chats", { signal })) });
  if (deleted.isError) return <Failed error={deleted.error} what="The deleted chats can't be listed" onRetry={() => void deleted.refetch()} />;
  if (deleted.isPending) return <Skeleton lines={4} />;
  if (deleted.data.chats.length === 0) return <Empty title="Nothing deleted">Deleted chats wait here to be brought back.</Empty>;
  return (
    <ul aria-label="Deleted chats" className="scroll-y h-full">
      {deleted.data.chats.map((chat) => (
        <li key={chat.id} className="flex items-center py-1.5 pr-1 pl-3 hover:bg-raised">
          <span className="min-w-0 flex-1">
            <span dir="auto" className="block truncate text-[13px]">
              {titleOf(chat)}
            </span>
            <span className="block truncate text-xs text-muted">
              Deleted <RelativeTime at={chat.deleted_at ?? chat.updated_at} />
            </span>
          </span>
          <IconButton label={`Bring back ${titleOf(chat)}`} onClick={() => void restoreChat(client, chat, true)}>
            <RotateCcw />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}
