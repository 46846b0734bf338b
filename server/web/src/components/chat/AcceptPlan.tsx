import { useQueryClient } from "@tanstack/react-query";
import { ListChecks } from "lucide-react";
import { Button } from "@/components/ui/Button";
import { useChat } from "@/hooks/useGeneralChat";
import { setMode } from "@/lib/chat/actions";
import { acceptPlan } from "@/lib/chat/chatMode";

/** AcceptPlan leaves plan mode below the last answer, and has the model carry its plan out in the mode before. */
export function AcceptPlan() {
  const client = useQueryClient();
  const { chat, busy, setChat, send } = useChat((s) => ({ chat: s.chat, busy: s.turn !== null || s.starting, setChat: s.setChat, send: s.send }));
  if (!chat?.plan) return null;
  const accept = async () => {
    const now = await setMode(client, chat, "off");
    if (!now) return;
    setChat(now);
    await send(acceptPlan);
  };
  return (
    <div className="flex flex-wrap items-center gap-2 text-[13px] text-muted">
      <Button look="accent" disabled={busy} onClick={() => void accept()}>
        <ListChecks className="size-4" aria-hidden="true" />
        Accept the plan
      </Button>
      <span>Or write what to change in it.</span>
    </div>
  );
}
