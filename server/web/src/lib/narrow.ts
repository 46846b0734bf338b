import { useSyncExternalStore } from "react";

const query = "(max-width: 899px)";

function subscribe(told: () => void) {
  const list = matchMedia(query);
  list.addEventListener("change", told);
  return () => list.removeEventListener("change", told);
}

/** useNarrow is whether the window is too narrow for panels beside each other. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}
