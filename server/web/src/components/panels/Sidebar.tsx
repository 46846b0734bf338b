import { CircleHelp, MessageSquarePlus, Package, Settings, Trash2 } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { ChatList } from "@/components/chat/ChatList";
import { IconButton } from "@/components/ui/Button";
import { SearchField } from "@/components/ui/SearchField";
import { Skeleton } from "@/components/ui/States";
import { useComposer } from "@/lib/chat/choices";
import { useUI } from "@/lib/ui";

const DeletedChats = lazy(() => import("@/components/chat/DeletedChats").then((m) => ({ default: m.DeletedChats })));
const SearchResults = lazy(() => import("@/components/chat/SearchResults").then((m) => ({ default: m.SearchResults })));

/** Sidebar is the list of chats, and the ways to other things. */
export default function Sidebar() {
  const { openChat, openContext, setShortcuts, setToolsets } = useUI.getState();
  const [query, setQuery] = useState("");
  const [deleted, setDeleted] = useState(false);
  return (
    <div className="flex h-full flex-col">
      <div className="flex flex-col gap-2 p-2">
        <button
          type="button"
          onClick={() => {
            openChat(null);
            setDeleted(false);
            useComposer.getState().put(null);
          }}
          className="flex h-9 items-center gap-2 rounded-md border border-border bg-bg px-3 text-sm font-medium hover:bg-raised"
        >
          <MessageSquarePlus className="size-4" aria-hidden="true" />
          New chat
        </button>
        {!deleted && (
          <div role="search" className="flex">
            <SearchField label="Search chats" placeholder="Search" value={query} onChange={setQuery} />
          </div>
        )}
      </div>
      <div className="min-h-0 flex-1">
        <Suspense fallback={<Skeleton lines={6} />}>{deleted ? <DeletedChats onBack={() => setDeleted(false)} /> : query.trim() ? <SearchResults query={query.trim()} /> : <ChatList />}</Suspense>
      </div>
      <div className="flex items-center gap-1 border-t border-border p-1.5">
        <button type="button" onClick={() => setToolsets(true)} className="flex h-8 flex-1 items-center gap-2 rounded-md px-2 text-[13px] text-muted hover:bg-raised hover:text-ink">
          <Package className="size-4" aria-hidden="true" />
          Toolsets
        </button>
        <IconButton label={deleted ? "Back to the chats" : "Deleted chats"} aria-pressed={deleted} onClick={() => setDeleted(!deleted)}>
          <Trash2 />
        </IconButton>
        <IconButton label="Settings" onClick={() => openContext("settings")}>
          <Settings />
        </IconButton>
        <IconButton label="Keyboard shortcuts" onClick={() => setShortcuts(true)}>
          <CircleHelp />
        </IconButton>
      </div>
    </div>
  );
}
