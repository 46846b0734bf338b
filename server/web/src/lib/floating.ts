import { useEffect, useLayoutEffect, type RefObject } from "react";

const edge = 4; // of the window, which nothing that floats touches

export interface Place {
  side: "above" | "below"; // where there is room; else on the other side
  align: "center" | "end";
  gap: number;
}

/**
 * useFloating keeps a fixed box beside its anchor and within the window. It looks at
 * each frame, as what scrolls, grows or moves the anchor tells nobody, and corrects
 * where it stands, as a page around the web component may have moved "fixed". The box
 * must have no transitions: what it is measured by has to be where it was put.
 */
export function useFloating(box: RefObject<HTMLElement | null>, anchor: Element, place: Place) {
  const { side, align, gap } = place;
  useLayoutEffect(() => {
    let frame = 0;
    let [x, y] = [0, 0];
    const put = () => {
      frame = requestAnimationFrame(put);
      if (!box.current) return;
      const at = anchor.getBoundingClientRect();
      const own = box.current.getBoundingClientRect();
      const room = { above: at.top - gap - edge, below: window.innerHeight - at.bottom - gap - edge };
      const other = side === "above" ? "below" : "above";
      const on = room[side] < own.height && room[other] > room[side] ? other : side;
      const left = align === "end" ? at.right - own.width : (at.left + at.right - own.width) / 2;
      const top = on === "above" ? at.top - gap - own.height : at.bottom + gap;
      const dx = within(left, window.innerWidth - own.width) - own.left;
      const dy = within(top, window.innerHeight - own.height) - own.top;
      if (Math.abs(dx) < 0.5 && Math.abs(dy) < 0.5) return;
      [x, y] = [x + dx, y + dy];
      box.current.style.transform = `translate(${x}px, ${y}px)`;
    };
    put();
    return () => cancelAnimationFrame(frame);
  }, [box, anchor, side, align, gap]);
}

function within(at: number, end: number): number {
  return Math.max(edge, Math.min(at, end - edge));
}

/** useEscape closes what floats, and that alone: a dialog below it takes the next Escape. */
export function useEscape(close: () => void) {
  useEffect(() => {
    const onKeyDown = (e: KeyboardEvent) => {
      if (e.key !== "Escape") return;
      e.preventDefault();
      close();
    };
    // Before all others hear of it.
    window.addEventListener("keydown", onKeyDown, true);
    return () => window.removeEventListener("keydown", onKeyDown, true);
  }, [close]);
}
