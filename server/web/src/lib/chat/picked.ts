import { create } from "zustand";
import { revoke } from "@/lib/files";
import type { Attachment } from "@/types/chat";

/** Picked is a file that goes along with the next message. */
export interface Picked {
  file: File;
  shown: Attachment;
}

const nameOf = (chatId: string | null) => chatId ?? "new";
const none: Picked[] = [];

/** usePicked holds the files of each chat's next message: they outlive the field, which another chat or another width takes away. */
export const usePicked = create<{ files: Record<string, Picked[]> }>()(() => ({ files: {} }));

export function pickedOf(chatId: string | null): Picked[] {
  return usePicked.getState().files[nameOf(chatId)] ?? none;
}

export function pick(chatId: string | null, list: Picked[]) {
  usePicked.setState((s) => ({ files: { ...s.files, [nameOf(chatId)]: list } }));
}

/** unpick takes a file back. */
export function unpick(chatId: string | null, one: Picked) {
  revoke([one.shown]);
  pick(chatId, pickedOf(chatId).filter((p) => p !== one));
}

/** movePicked gives what was picked to the chat that has an id now. */
export function movePicked(from: string | null, to: string | null) {
  const list = pickedOf(from);
  if (list.length === 0) return;
  pick(from, none);
  pick(to, [...pickedOf(to), ...list]);
}
