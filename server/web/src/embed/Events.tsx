import { useEffect } from "react";
import { useChatStore } from "@/hooks/useGeneralChat";
import { performBy } from "@/lib/clientAction";
import { textOf, type LiveTurn } from "@/lib/turn";
import { useUI } from "@/lib/ui";

/** Events tells the page around of payloads and ends, as events of the element; they bubble, and leave its shadow. */
export function Events({ host }: { host: HTMLElement }) {
  const store = useChatStore();
  useEffect(() => {
    const tell = (name: string, detail: unknown) => host.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
    let seen = { turn: "", payloads: 0, ended: false };
    return store.subscribe(({ turn, chatId }: { turn: LiveTurn | null; chatId: string | null }) => {
      if (!turn) return;
      if (turn.turnId !== seen.turn) seen = { turn: turn.turnId, payloads: 0, ended: false };
      for (const payload of turn.payloads.slice(seen.payloads)) {
        tell("fettle-payload", { chat: chatId, payload_id: payload.payload_id, type: payload.type, data: payload.data });
      }
      seen.payloads = turn.payloads.length;
      if (turn.ended && !seen.ended) {
        seen.ended = true;
        const { ended } = turn;
        if (ended.type === "complete") tell("fettle-complete", { chat: chatId, message_id: ended.messageId, message: textOf(turn), payload: ended.payload });
        else tell(ended.type === "error" ? "fettle-error" : "fettle-cancelled", { chat: chatId, ...(ended.type === "error" ? { message: ended.message } : {}) });
      }
    });
  }, [store, host]);
  // An action of the page is the host's: it acknowledges the event where it carries the action out.
  useEffect(
    () =>
      performBy(async (action) => {
        let answer: unknown = false;
        const acknowledge = (outcome: unknown = true) => (answer = outcome);
        host.dispatchEvent(new CustomEvent("fettle-action", { detail: { ...action, acknowledge }, bubbles: true, composed: true }));
        return (await answer) !== false;
      }),
    [host],
  );
  // The chat that it made or that a person opened is told, so that a page can keep it.
  useEffect(
    () =>
      useUI.subscribe((now, was) => {
        if (now.chat !== was.chat) host.dispatchEvent(new CustomEvent("fettle-chat", { detail: { chat: now.chat }, bubbles: true, composed: true }));
      }),
    [host],
  );
  return null;
}
