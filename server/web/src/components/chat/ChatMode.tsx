import { useQueryClient } from "@tanstack/react-query";
import { Tooltip } from "@/components/ui/Tooltip";
import { useChat } from "@/hooks/useGeneralChat";
import { setMode } from "@/lib/chat/actions";
import { modeOf, modes, useFreshMode, type Mode } from "@/lib/chat/chatMode";
import { cn } from "@/lib/cn";
import { usePage } from "@/lib/page";

/** ChatMode chooses which calls of a chat need an approval. The chat keeps it. */
export function ChatMode() {
  const client = useQueryClient();
  const { chat, setChat } = useChat((s) => ({ chat: s.chat, setChat: s.setChat }));
  const fresh = useFreshMode((s) => s.mode);
  const usual = usePage().data?.approvals;
  const mode = modeOf(chat, fresh, usual);
  const choose = (id: Mode) => {
    if (!chat) useFreshMode.setState({ mode: id });
    else void setMode(client, chat, id).then((now) => now && setChat(now));
  };
  return (
    <Tooltip text={modes.find((m) => m.id === mode)?.about ?? ""}>
      <select
        aria-label="Approvals"
        className={cn("h-8 max-w-40 min-w-0 truncate rounded-md bg-transparent px-1 text-[13px] hover:bg-raised hover:text-ink", mode === "calls" ? "text-muted" : "text-accent-ink")}
        value={mode}
        onChange={(e) => choose(e.target.value as Mode)}
      >
        {modes.map((m) => (
          <option key={m.id} value={m.id}>
            {m.label}
          </option>
        ))}
      </select>
    </Tooltip>
  );
}
