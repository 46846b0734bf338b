import { useState } from "react";
import { useClientPages } from "@/components/panels/workspace/usePayloadTypes";
import { Button } from "@/components/ui/Button";
import { useChat } from "@/hooks/useGeneralChat";
import { perform } from "@/lib/clientAction";
import type { GeneralChatMessage, SuggestedAction } from "@/types/chat";

/** Suggestions are document 000's values and actions below the last answer. */
export function Suggestions({ message }: { message: GeneralChatMessage }) {
  const { send, busy, chatId } = useChat((s) => ({ send: s.send, busy: s.starting || s.turn !== null, chatId: s.chatId }));
  const pages = useClientPages();
  const [performing, setPerforming] = useState(false);
  const values = message.suggested_values ?? [];
  const actions = message.suggested_actions ?? [];
  if (values.length + actions.length === 0) return null;
  const take = async (a: SuggestedAction) => {
    const metadata = metadataOf(a);
    const ofPage = a.handler === "client" || pages.some((p) => p.actions.includes(metadata.action_identifier));
    setPerforming(true);
    const acknowledged = ofPage && (await perform({ action: metadata.action_identifier, data: metadata.action_data, chat: chatId }));
    setPerforming(false);
    void send(a.label, "action_executed", acknowledged ? { ...metadata, acknowledged } : metadata);
  };
  const off = busy || performing;
  return (
    <div role="group" aria-label="Suggestions" className="flex flex-wrap gap-2">
      {values.map((v, i) => (
        <Button key={i} size="small" disabled={off} className="h-auto min-h-7 max-w-full rounded-full py-1 text-left" onClick={() => void send(v.value, "value_selected", { action_identifier: v.label || v.value, action_data: v.value })}>
          {v.label || v.value}
        </Button>
      ))}
      {actions.map((a, i) => (
        <Button key={i} size="small" look={a.style === "primary" ? "accent" : "plain"} disabled={off} className="h-auto min-h-7 max-w-full py-1 text-left" onClick={() => void take(a)}>
          {a.label}
        </Button>
      ))}
    </div>
  );
}

/** metadataOf names an action by document 000's fields or by fettle's. */
function metadataOf(a: SuggestedAction) {
  return { action_identifier: a.action ?? a.type ?? "", action_data: a.data ?? a.metadata };
}
