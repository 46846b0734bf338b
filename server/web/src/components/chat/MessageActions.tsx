import { ChevronLeft, ChevronRight, GitFork, Pencil, RefreshCw } from "lucide-react";
import { CopyButton } from "@/components/ui/CodeBlock";
import { IconButton } from "@/components/ui/Button";
import { RelativeTime } from "@/components/ui/RelativeTime";
import { useChat } from "@/hooks/useGeneralChat";
import { fork } from "@/lib/chat/actions";
import { withoutMarkers } from "@/lib/markers";
import type { GeneralChatMessage } from "@/types/chat";

/** MessageActions is a message's row of actions, there when it is pointed at or reached by keyboard. */
export function MessageActions({ message, onEdit }: { message: GeneralChatMessage; onEdit?: () => void }) {
  const { chatId, busy, retry, switchTo } = useChat((s) => ({ chatId: s.chatId, busy: s.starting || s.turn !== null || s.loading || s.loadFault !== null, retry: s.retry, switchTo: s.switchTo }));
  const { siblings } = message;
  if (message.pending) return <div className="h-8" />;
  return (
    <div className="flex h-8 items-center text-muted">
      {siblings && siblings.ids.length > 1 && (
        <div role="group" aria-label="Branches" className="flex items-center text-[13px] tabular-nums">
          <IconButton label="Earlier branch" disabled={busy || siblings.index === 0} onClick={() => void switchTo(siblings.ids[siblings.index - 1] ?? "")}>
            <ChevronLeft />
          </IconButton>
          {siblings.index + 1} / {siblings.ids.length}
          <IconButton label="Later branch" disabled={busy || siblings.index === siblings.ids.length - 1} onClick={() => void switchTo(siblings.ids[siblings.index + 1] ?? "")}>
            <ChevronRight />
          </IconButton>
        </div>
      )}
      <div className="flex items-center opacity-0 transition-opacity group-focus-within/message:opacity-100 group-hover/message:opacity-100 [@media(hover:none)]:opacity-100">
        <CopyButton text={() => withoutMarkers(message.content)} />
        {onEdit && (
          <IconButton label="Edit" disabled={busy} onClick={onEdit}>
            <Pencil />
          </IconButton>
        )}
        {message.role === "assistant" && (
          <IconButton label="Answer again" disabled={busy} onClick={() => void retry(message.id)}>
            <RefreshCw />
          </IconButton>
        )}
        {message.role === "assistant" && chatId && (
          <IconButton label="Fork the chat from here" disabled={busy} onClick={() => void fork(chatId, message.id)}>
            <GitFork />
          </IconButton>
        )}
        <span className="ml-2 truncate text-xs">
          {usageLine(message)} <RelativeTime at={message.timestamp} />
        </span>
      </div>
    </div>
  );
}

function usageLine(message: GeneralChatMessage): string {
  if (message.role !== "assistant") return "";
  const { usage, model } = message;
  const parts = [model, usage ? `${usage.input_tokens.toLocaleString()} in, ${usage.output_tokens.toLocaleString()} out` : ""].filter(Boolean);
  return parts.length > 0 ? parts.join(" · ") + " ·" : "";
}
