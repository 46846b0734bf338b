import { cloneElement, useCallback, useEffect, useId, useRef, useState, type HTMLAttributes, type KeyboardEvent, type ReactElement, type ReactNode } from "react";
import { createPortal } from "react-dom";
import { cn } from "@/lib/cn";
import { useEscape, useFloating, type Place } from "@/lib/floating";
import { usePortal } from "@/lib/portal";

export interface MenuItem {
  label: string;
  icon?: ReactNode;
  danger?: boolean;
  onSelect(): void;
}

interface Opened {
  anchor: HTMLElement;
  first: boolean; // by the keyboard, which goes on at the first item
}

const place: Place = { side: "below", align: "end", gap: 4 };

/** Menu opens a list of actions below its trigger, a button. */
export function Menu({ items, children }: { items: MenuItem[]; children: ReactElement<HTMLAttributes<HTMLElement>> }) {
  const [opened, setOpened] = useState<Opened | null>(null);
  const id = useId();
  const close = useCallback(() => setOpened(null), []);
  return (
    <>
      {cloneElement(children, {
        id: `${id}-button`,
        "aria-haspopup": "menu",
        "aria-expanded": opened !== null,
        "aria-controls": opened ? id : undefined,
        // A click by the keyboard has no detail.
        onClick: (e) => setOpened(opened ? null : { anchor: e.currentTarget, first: e.detail === 0 }),
        onKeyDown: (e) => {
          if (e.key !== "ArrowDown") return;
          e.preventDefault();
          setOpened({ anchor: e.currentTarget, first: true });
        },
      })}
      {opened && <List id={id} opened={opened} items={items} onClose={close} />}
    </>
  );
}

function List({ id, opened: { anchor, first }, items, onClose }: { id: string; opened: Opened; items: MenuItem[]; onClose(): void }) {
  const box = useRef<HTMLDivElement>(null);
  useFloating(box, anchor, place);
  const back = useCallback(() => {
    anchor.focus();
    onClose();
  }, [anchor, onClose]);
  useEscape(back);
  useEffect(() => {
    const list = box.current;
    (first ? list?.querySelector<HTMLElement>("[role=menuitem]") : list)?.focus({ preventScroll: true });
    const onPointerDown = (e: PointerEvent) => {
      const path = e.composedPath();
      // The trigger's own click closes it.
      if (list && !path.includes(list) && !path.includes(anchor)) onClose();
    };
    document.addEventListener("pointerdown", onPointerDown, true);
    return () => document.removeEventListener("pointerdown", onPointerDown, true);
  }, [anchor, first, onClose]);

  const onKeyDown = (e: KeyboardEvent<HTMLElement>) => {
    const all = [...e.currentTarget.querySelectorAll<HTMLElement>("[role=menuitem]")];
    const at = all.findIndex((item) => item === e.target);
    const to = nextItem(e, at, items);
    if (e.key === "Tab" || to !== undefined) e.preventDefault();
    if (to !== undefined) all[Math.max(0, Math.min(all.length - 1, to))]?.focus();
  };
  return createPortal(
    <div
      ref={box}
      id={id}
      role="menu"
      aria-labelledby={`${id}-button`}
      tabIndex={-1}
      onKeyDown={onKeyDown}
      onBlur={(e) => {
        const to = e.relatedTarget;
        if (to && !e.currentTarget.contains(to) && !anchor.contains(to)) onClose();
      }}
      className="pointer-events-auto fixed top-0 left-0 transition-none z-50 min-w-40 rounded-lg border border-border bg-surface p-1 shadow-xl outline-none"
    >
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          // What is pointed at and what the keyboard is at are one.
          onPointerMove={(e) => e.currentTarget.focus({ preventScroll: true })}
          onPointerLeave={() => box.current?.focus({ preventScroll: true })}
          onClick={() => {
            back(); // before what is chosen takes the focus elsewhere
            item.onSelect();
          }}
          className={cn(
            "flex w-full items-center gap-2 rounded-md px-2 py-1.5 text-left text-sm outline-none focus:bg-raised [&_svg]:size-4",
            item.danger ? "text-bad" : "text-ink",
          )}
        >
          {item.icon}
          {item.label}
        </button>
      ))}
    </div>,
    usePortal() ?? document.body,
  );
}

/** nextItem is where a key leads from an item, or from the list itself (-1). */
function nextItem(e: KeyboardEvent, at: number, items: MenuItem[]): number | undefined {
  const { key } = e;
  if (key === "ArrowDown") return at + 1;
  if (key === "ArrowUp") return at < 0 ? items.length : at - 1;
  if (key === "Home" || key === "PageUp") return 0;
  if (key === "End" || key === "PageDown") return items.length;
  if (key.length !== 1 || key === " " || e.ctrlKey || e.metaKey || e.altKey) return undefined;
  // A letter leads to the next one that begins with it.
  const order = items.map((_, i) => (at + 1 + i) % items.length);
  return order.find((i) => items[i]?.label.toLowerCase().startsWith(key.toLowerCase()));
}
