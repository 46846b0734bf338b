import { useCallback, useEffect, useRef, useState } from "react";
import { joined, useReturned } from "@/lib/chat/choices";
import { movePicked } from "@/lib/chat/picked";
import { draftOf, keepDraft } from "@/lib/storage";

/**
 * useDraft is what is typed in a chat. It is kept only once a person has changed it
 * here: a field that merely showed a draft must not bring it back, or take away
 * what another window wrote.
 */
export function useDraft(chatId: string | null) {
  const [text, setText] = useState(() => draftOf(chatId));
  const latest = useRef(text);
  const touched = useRef(false);
  const dirty = useRef(false); // it isn't kept yet
  const of = useRef(chatId);

  const show = useCallback((now: string, changed: boolean) => {
    latest.current = now;
    touched.current = dirty.current = changed;
    setText(now);
  }, []);
  const write = useCallback((now: string) => show(now, true), [show]);
  const sent = useCallback(() => {
    show("", false);
    keepDraft(chatId, "");
  }, [chatId, show]);

  useEffect(() => {
    // The chat has its id now: a new one from the server, another one by its number.
    if (of.current !== chatId) {
      if (touched.current) {
        keepDraft(of.current, "");
        dirty.current = true;
      } else show(draftOf(chatId), false);
      movePicked(of.current, chatId);
      of.current = chatId;
    }
    const keep = () => {
      if (!dirty.current || of.current !== chatId) return;
      dirty.current = false;
      keepDraft(chatId, latest.current);
    };
    const timer = setTimeout(keep, 300);
    // Who reloads right after a word has typed it all the same.
    window.addEventListener("pagehide", keep);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("pagehide", keep);
      keep();
    };
  }, [chatId, text, show]);

  useEffect(
    () =>
      useReturned.subscribe((back) => {
        if (back.chatId === of.current) show(joined(back.text, latest.current), true);
      }),
    [show],
  );
  return { text, write, sent };
}
