import { useEffect, useRef } from "react";

/**
 * useKeptFocus is for what shows one of several views: where the focus goes with the
 * view that it was in, it comes to the next one's stop of Tab, or to the whole, so
 * that keys go on to work there.
 */
export function useKeptFocus(view: string) {
  const box = useRef<HTMLDivElement>(null);
  const shown = useRef(view);
  useEffect(() => {
    const another = shown.current !== view;
    shown.current = view;
    const whole = box.current;
    const at = document.activeElement;
    if (!another || (at !== null && at !== document.body && at !== whole)) return;
    whole?.focus({ preventScroll: true });
    // A virtual list has its rows once it knows its height.
    const frame = requestAnimationFrame(() => {
      if (document.activeElement === whole) whole?.querySelector<HTMLElement>('[role=grid] [tabindex="0"]')?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, [view]);
  return box;
}
