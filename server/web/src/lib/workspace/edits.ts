import { create } from "zustand";
import type { WorkspacePayload } from "@/types/chat";

// What the user makes of a payload's text, until the server has it. It is kept by what
// the payload says, so that it comes back with the payload and never covers another one.

const maxEdits = 50;

interface Edits {
  edits: Record<string, string>;
  keep(key: string, text: string): void;
  /** drop forgets a text that the server has, unless another one was written since */
  drop(key: string, text: string): void;
}

export const useEdits = create<Edits>()((set) => ({
  edits: {},
  keep: (key, text) => set((s) => ({ edits: Object.fromEntries([...Object.entries(s.edits).filter(([k]) => k !== key).slice(-(maxEdits - 1)), [key, text]]) })),
  drop: (key, text) => set((s) => (s.edits[key] === text ? { edits: Object.fromEntries(Object.entries(s.edits).filter(([k]) => k !== key)) } : s)),
}));

const keys = new WeakMap<WorkspacePayload, string>();

/** payloadKey tells a payload from another one of its type and title. */
export function payloadKey(payload: WorkspacePayload): string {
  let key = keys.get(payload);
  if (key === undefined) {
    key = `${payload.type} ${digest(JSON.stringify({ ...payload, render_plan: undefined }))}`;
    keys.set(payload, key);
  }
  return key;
}

/** digest is 64 bits of FNV-1a in two halves: enough to tell texts apart, and there without a secure context. */
function digest(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x9dc5811c;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    a = Math.imul(a ^ c, 0x01000193);
    b = Math.imul(b ^ c ^ (i & 0xff), 0x01000197);
  }
  return (a >>> 0).toString(36) + (b >>> 0).toString(36) + text.length.toString(36);
}
