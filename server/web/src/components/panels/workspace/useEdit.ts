import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { useChat } from "@/hooks/useGeneralChat";
import { api, unwrap, type Schemas } from "@/lib/api/client";
import { useUI } from "@/lib/ui";
import { payloadKey, useEdits } from "@/lib/workspace/edits";
import type { WorkspacePayload } from "@/types/chat";
import { usePayloads } from "./useDecision";

/** pause is how long the user stops typing before a text is sent, in milliseconds. */
const pause = 700;

/** EditState says where an edited text is: only in this page, or on the server. */
export type EditState = "none" | "waiting" | "saved" | "failed";

type Listed = Schemas["ShownPayload"][];

/**
 * useEdit is the text that the user made of a payload's. The server keeps it; the page
 * holds it until then, also while the answer that the payload belongs to is being made.
 */
export function useEdit(payload: WorkspacePayload, payloadId: string | undefined) {
  const chatId = useChat((s) => s.chatId);
  const place = useUI((s) => s.chat);
  const client = useQueryClient();
  const key = `${place} ${payloadKey(payload)}`;
  const unsent = useEdits((s) => s.edits[key]);
  const listed = usePayloads(payloadId ? chatId : null).data?.find((p) => p.id === payloadId);
  const stored = listed?.edit?.text;
  const [failed, setFailed] = useState(false);
  const known = listed !== undefined;
  const sending = useRef(false);

  const send = useCallback(async () => {
    const text = useEdits.getState().edits[key];
    if (text === undefined || !known || !chatId || !payloadId || sending.current) return;
    sending.current = true;
    try {
      const { payload: now } = unwrap(await api.PUT("/api/chats/{chat}/payloads/{payload}/text", { params: { path: { chat: chatId, payload: payloadId } }, body: { text } }));
      client.setQueryData<Listed>(["payloads", chatId], (all) => all?.map((p) => (p.id === payloadId ? { ...p, edit: now.edit } : p)));
      useEdits.getState().drop(key, text);
      setFailed(false);
    } catch {
      setFailed(true);
    } finally {
      sending.current = false;
    }
  }, [chatId, client, key, known, payloadId]);

  // What was written while a text was on its way is sent after it.
  useEffect(() => {
    if (unsent === undefined) return;
    const timer = window.setTimeout(() => void send(), pause);
    return () => window.clearTimeout(timer);
  }, [send, unsent, stored]);
  const last = useRef(send);
  useEffect(() => {
    last.current = send;
  }, [send]);
  useEffect(() => {
    const leave = () => void last.current();
    document.addEventListener("visibilitychange", leave);
    return () => {
      document.removeEventListener("visibilitychange", leave);
      leave();
    };
  }, []);

  const state: EditState = unsent !== undefined ? (failed ? "failed" : "waiting") : stored !== undefined ? "saved" : "none";
  return { edited: unsent ?? stored, write: (text: string) => useEdits.getState().keep(key, text), flush: () => void send(), state };
}
