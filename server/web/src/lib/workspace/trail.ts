import { create } from "zustand";
import { useUI, type Selection } from "@/lib/ui";

// Where a person has been in the workspace panel of a chat, to go back to.

interface Trail {
  chat: string | null;
  places: (Selection | null)[];
  at: number;
}

const longest = 50;

export const useTrail = create<Trail>()(() => ({ chat: null, places: [null], at: 0 }));

function same(a: Selection | null, b: Selection | null): boolean {
  if (a === b) return true;
  if (!a || !b || a.kind !== b.kind) return false;
  if (a.kind === "payload" && b.kind === "payload") return a.payload === b.payload || (a.payloadId !== undefined && a.payloadId === b.payloadId);
  return JSON.stringify(a) === JSON.stringify(b);
}

/** visit notes what is shown now; what was ahead is forgotten, as in a browser. */
export function visit(selection: Selection | null, chat: string | null) {
  const trail = useTrail.getState();
  if (trail.chat !== chat) {
    useTrail.setState({ chat, places: selection ? [null, selection] : [null], at: selection ? 1 : 0 });
    return;
  }
  if (same(trail.places[trail.at] ?? null, selection)) return;
  const places = [...trail.places.slice(0, trail.at + 1), selection].slice(-longest);
  useTrail.setState({ places, at: places.length - 1 });
}

/** step goes back (-1) or on (1). */
export function step(by: -1 | 1) {
  const { places, at } = useTrail.getState();
  const to = at + by;
  if (to < 0 || to >= places.length) return;
  useTrail.setState({ at: to });
  useUI.getState().select(places[to] ?? null);
}
