import { useQueryClient } from "@tanstack/react-query";
import { Download, Ellipsis, GitFork, Pencil, Trash2 } from "lucide-react";
import { useEffect, useState, useSyncExternalStore } from "react";
import { createPortal } from "react-dom";
import { IconButton } from "@/components/ui/Button";
import { Menu } from "@/components/ui/Menu";
import { useChat } from "@/hooks/useGeneralChat";
import { deleteChat, exportChat, fork, renameChat } from "@/lib/chat/actions";
import type { Chat } from "@/lib/api/client";
import { TitleField } from "./TitleField";

const never = () => () => {};

/** ChatTitle is the chat's name in the page's header, with what can be done with the chat. */
export function ChatTitle() {
  const chat = useChat((s) => s.chat);
  // The header is the page's, and is there once all of it is.
  const place = useSyncExternalStore(never, () => document.getElementById("chat-title"));
  useEffect(() => {
    document.title = chat?.title ? `${chat.title} · fettle` : "fettle";
  }, [chat?.title]);
  return place && createPortal(chat ? <Named key={chat.id} chat={chat} /> : <p className="truncate px-2 text-sm text-muted">New chat</p>, place);
}

function Named({ chat }: { chat: Chat }) {
  const client = useQueryClient();
  const setChat = useChat((s) => s.setChat);
  const [naming, setNaming] = useState(false);
  return (
    <div className="flex min-w-0 items-center gap-1">
      {naming ? (
        <TitleField
          title={chat.title}
          onDone={(title) => {
            setNaming(false);
            if (title !== null) void renameChat(client, chat, title).then((now) => now && setChat(now));
          }}
        />
      ) : (
        <h1 dir="auto" className="min-w-0 truncate px-2 text-sm font-medium" title={chat.title} onDoubleClick={() => setNaming(true)}>
          {chat.title}
        </h1>
      )}
      <Menu
        items={[
          { label: "Rename", icon: <Pencil />, onSelect: () => setNaming(true) },
          { label: "Fork", icon: <GitFork />, onSelect: () => void fork(chat.id) },
          { label: "Save as Markdown", icon: <Download />, onSelect: () => void exportChat(chat) },
          { label: "Delete", icon: <Trash2 />, danger: true, onSelect: () => void deleteChat(client, chat) },
        ]}
      >
        <IconButton label="Chat menu">
          <Ellipsis />
        </IconButton>
      </Menu>
    </div>
  );
}
