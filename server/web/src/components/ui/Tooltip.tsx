import { cloneElement, useCallback, useEffect, useId, useRef, useState, type HTMLAttributes, type ReactElement, type ReactNode } from "react";
import { createPortal } from "react-dom";
import { useEscape, useFloating, type Place } from "@/lib/floating";
import { usePortal } from "@/lib/portal";

// Milliseconds: a pointer that rests means it, one that goes on from a tooltip to the
// next has shown that already, and the way into a tooltip leads over its gap.
const rest = 500;
const next = 300;
const way = 120;

const place: Place = { side: "above", align: "center", gap: 6 };

// One is shown at a time.
let closeShown: (() => void) | null = null;
let closedAt = -Infinity;
const warm = () => closeShown !== null || performance.now() - closedAt < next;

/** Tooltip names what its child, one element, does, where a pointer rests on it or the keyboard has reached it. */
export function Tooltip({ text, children }: { text: ReactNode; children: ReactElement<HTMLAttributes<HTMLElement>> }) {
  const [anchor, setAnchor] = useState<Element | null>(null);
  const [delay] = useState(() => new Delay());
  const id = useId();
  const own = children.props;
  const show = (at: Element | null, after: number) => delay.start(() => setAnchor(at), after);
  const hide = useCallback(() => {
    delay.stop();
    setAnchor(null);
  }, [delay]);
  useEffect(() => () => delay.stop(), [delay]);
  return (
    <>
      {cloneElement(children, {
        ...(anchor && { "aria-describedby": id }),
        onPointerEnter: both(own.onPointerEnter, (e) => {
          if (e.pointerType !== "touch") show(e.currentTarget, warm() ? 0 : rest);
        }),
        onPointerLeave: both(own.onPointerLeave, () => show(null, way)),
        onPointerDown: both(own.onPointerDown, hide),
        onClick: both(own.onClick, hide),
        onFocus: both(own.onFocus, (e) => {
          if (e.currentTarget.matches(":focus-visible")) show(e.currentTarget, 0);
        }),
        onBlur: both(own.onBlur, hide),
      })}
      {anchor && (
        <Bubble id={id} anchor={anchor} onClose={hide} onEnter={() => show(anchor, 0)} onLeave={() => show(null, way)}>
          {text}
        </Bubble>
      )}
    </>
  );
}

/** Delay does the last thing that it was asked for. */
class Delay {
  #timer: ReturnType<typeof setTimeout> | undefined;

  start(act: () => void, after: number) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(act, after);
  }

  stop() {
    clearTimeout(this.#timer);
  }
}

function both<E>(own: ((event: E) => void) | undefined, then: (event: E) => void) {
  return (event: E) => {
    own?.(event);
    then(event);
  };
}

function Bubble({ id, anchor, onClose, onEnter, onLeave, children }: { id: string; anchor: Element; onClose(): void; onEnter(): void; onLeave(): void; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  useFloating(box, anchor, place);
  useEscape(onClose);
  useEffect(() => {
    closeShown?.();
    closeShown = onClose;
    const onScroll = (e: Event) => {
      if (e.target instanceof Node && e.target.contains(anchor)) onClose();
    };
    window.addEventListener("scroll", onScroll, true);
    return () => {
      window.removeEventListener("scroll", onScroll, true);
      if (closeShown === onClose) closeShown = null;
      closedAt = performance.now();
    };
  }, [anchor, onClose]);
  return createPortal(
    // It can be pointed at to be read, above a dialog too, for which it isn't outside.
    <div
      ref={box}
      id={id}
      role="tooltip"
      onPointerEnter={onEnter}
      onPointerLeave={onLeave}
      onPointerDown={(e) => e.stopPropagation()}
      className="pointer-events-auto fixed top-0 left-0 transition-none z-50 max-w-80 rounded-md border border-border bg-surface px-2 py-1 text-[13px] text-ink shadow-lg"
    >
      {children}
    </div>,
    usePortal() ?? document.body,
  );
}
