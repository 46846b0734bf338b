import { Plus, X } from "lucide-react";
import { useState } from "react";
import { ChatBody } from "@/components/chat/ChatBody";
import { ChatInput } from "@/components/chat/ChatInput";
import { Result } from "@/components/panels/workspace/Result";
import { useShown } from "@/components/panels/workspace/useShown";
import { useTitle } from "@/components/panels/workspace/useTitle";
import { IconButton } from "@/components/ui/Button";
import { Failed } from "@/components/ui/States";
import { useChat } from "@/hooks/useGeneralChat";
import { usePayloadHandler } from "@/lib/payloadHandlers";
import { useUI } from "@/lib/ui";

/** EmbedPanel is the chat alone, with what it brought in a sheet over it. */
export function EmbedPanel() {
  const { title, empty, locked } = useChat((s) => ({ title: s.chat?.title, empty: s.messages.length === 0 && !s.turn, locked: s.locked }));
  const { openChat } = useUI.getState();
  return (
    <div className="relative flex h-full flex-col text-ink">
      <header className="flex h-10 shrink-0 items-center gap-1 border-b border-border pr-1 pl-3">
        <p className="min-w-0 flex-1 truncate text-sm text-muted">{title || "New chat"}</p>
        <IconButton label="New chat" disabled={empty} onClick={() => openChat(null)}>
          <Plus />
        </IconButton>
      </header>
      {locked ? (
        <div className="min-h-0 flex-1">
          <Failed what="The server doesn't take this token" error={new Error("the element’s token is missing, or another one by now")} />
        </div>
      ) : (
        <ChatBody />
      )}
      <Sheet />
      {!locked && <ChatInput />}
    </div>
  );
}

/** Sheet shows what a person chose, and by itself a payload that the page has a handler for. */
function Sheet() {
  const selection = useUI((s) => s.selection);
  const { select } = useUI.getState();
  const shown = useShown(selection);
  const type = shown.mode.mode === "payload" ? shown.mode.payload.type : "";
  const handler = usePayloadHandler(type);
  const [closed, setClosed] = useState(""); // the payload that was put away
  const title = useTitle(shown, "result");
  const key = shown.payloadId ?? type;
  if (selection === null && (!handler || closed === key)) return null;
  return (
    <section aria-label={title.title} className="flex max-h-[60%] min-h-32 shrink-0 flex-col border-t border-border bg-bg">
      <header className="flex h-9 shrink-0 items-center gap-2 border-b border-border pr-1 pl-3 text-[13px] [&_svg]:size-4">
        {title.icon}
        <h2 className="min-w-0 flex-1 truncate font-medium">{title.title}</h2>
        <IconButton
          label="Put away"
          onClick={() => {
            setClosed(key);
            select(null);
          }}
        >
          <X />
        </IconButton>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <Result shown={shown} onStart={() => {}} />
      </div>
    </section>
  );
}
