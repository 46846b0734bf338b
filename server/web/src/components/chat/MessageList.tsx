import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Button } from "@/components/ui/Button";
import { useChat } from "@/hooks/useGeneralChat";
import type { LiveTurn } from "@/lib/turn";
import type { GeneralChatMessage } from "@/types/chat";
import { AgentMessage } from "./AgentMessage";
import { FaultRow } from "./FaultRow";
import { UserMessage } from "./UserMessage";

interface Row {
  key: string;
  message: GeneralChatMessage | null;
  turn: LiveTurn | null;
}

/** rowsOf has an answer under the same key while it is made and after, so that it stays where and as it is. */
export function rowsOf(messages: GeneralChatMessage[], turn: LiveTurn | null): Row[] {
  const rows = messages.map((message): Row => ({ key: message.turn_id ? `${message.role}-${message.turn_id}` : message.id, message, turn: null }));
  if (turn) rows.push({ key: `assistant-${turn.turnId}`, message: null, turn });
  return rows;
}

const near = 48; // pixels that still are the end
const hand = 600; // milliseconds in which a scroll follows from what a hand did

/** MessageList draws what is near the eye of a chat of any length, and keeps the reader's place. */
export function MessageList() {
  const { chatId, messages, turn, before, loadOlder, fault } = useChat((s) => ({
    chatId: s.chatId, messages: s.messages, turn: s.turn, before: s.before, loadOlder: s.loadOlder, fault: s.fault,
  }));
  const rows = useMemo(() => rowsOf(messages, turn), [messages, turn]);
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const stuck = useRef(true); // the reader is at the end, and stays there
  const was = useRef({ top: 0, height: 0 }); // where the box was scrolled to, and how high all of it was
  const moved = useRef(-Infinity); // when a person last turned the wheel, swiped or pressed a key
  const anchor = useRef<{ key: string; offset: number } | null>(null);
  const [away, setAway] = useState(false);

  // What it gives is used here alone, in each drawing anew.
  // eslint-disable-next-line react-hooks/incompatible-library
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    getItemKey: (i) => rows[i]?.key ?? i,
    estimateSize: (i) => (rows[i]?.message?.role === "user" ? 88 : 240),
    overscan: 4,
    gap: 4,
    paddingStart: 24,
    paddingEnd: 24,
  });

  function toEnd() {
    const el = box.current;
    if (el) el.scrollTop = el.scrollHeight;
  }

  // Another chat, and a question of one's own, begin at the end. The end of an answer
  // moves nobody, and to ask for the height then is to lay out the whole of it at once.
  const asked = messages.at(-1)?.pending ? messages.at(-1)?.id : "";
  const shown = useRef<string | null | undefined>(undefined);
  useLayoutEffect(() => {
    if (shown.current === chatId && !asked) return;
    shown.current = chatId;
    stuck.current = true;
    toEnd();
  }, [chatId, asked]);

  // Whoever decides by keyboard loses the button that they stood on.
  const waits = turn?.approvals.length ?? 0;
  const waited = useRef(0);
  useLayoutEffect(() => {
    if (waits < waited.current && document.activeElement === document.body) box.current?.focus({ preventScroll: true });
    waited.current = waits;
  }, [waits]);

  // What grows below pulls the reader along only from the end.
  useEffect(() => {
    const el = inner.current;
    if (!el) return;
    const observer = new ResizeObserver(() => {
      if (stuck.current) toEnd();
      else if (box.current) setAway(fromEnd(box.current) > near);
    });
    observer.observe(el);
    return () => observer.disconnect();
  }, []);

  // Older messages come in above what is being read.
  const first = rows[0]?.key;
  useLayoutEffect(() => {
    const held = anchor.current;
    anchor.current = null;
    if (!held || stuck.current) return;
    const at = rows.findIndex((r) => r.key === held.key);
    const start = at > 0 ? virtual.getOffsetForIndex(at, "start")?.[0] : undefined;
    if (start !== undefined && box.current) box.current.scrollTop = start + held.offset;
    // Only the list's beginning tells that something came in above.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [first]);

  // What a person opens grows where they look, and doesn't run away from them.
  function letGo() {
    if (!turn) stuck.current = false;
  }

  function onHand() {
    moved.current = performance.now();
  }

  function onScroll() {
    const el = box.current;
    if (!el) return;
    const rest = fromEnd(el);
    // Only who scrolls up leaves the end. What grows below moves it away by itself, and
    // rows that are lower than was guessed pull the box up with them.
    const up = el.scrollTop < was.current.top && (el.scrollHeight === was.current.height || performance.now() - moved.current < hand);
    stuck.current = rest <= near || (stuck.current && !up);
    was.current = { top: el.scrollTop, height: el.scrollHeight };
    setAway(rest > near && !stuck.current);
    if (el.scrollTop < 600 && before) {
      const seen = virtual.getVirtualItems().find((item) => item.end > el.scrollTop);
      if (seen) anchor.current = { key: String(seen.key), offset: el.scrollTop - seen.start };
      void loadOlder();
    }
  }

  return (
    <div className="relative min-h-0 flex-1">
      {/* A scrolling box has to be reachable by keyboard, and what a hand does there tells who scrolls. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/no-noninteractive-element-interactions */}
      <div ref={box} onScroll={onScroll} onWheel={onHand} onTouchMove={onHand} onKeyDown={onHand} onClickCapture={letGo} tabIndex={0} role="log" aria-label="Messages" aria-live="off" className="scroll-y h-full [overflow-anchor:none] outline-offset-[-2px]">
        <div ref={inner} className="relative mx-auto w-full max-w-[800px]" style={{ height: virtual.getTotalSize() + (fault ? 120 : 0) }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return (
              <div key={item.key} ref={virtual.measureElement} data-index={item.index} className="absolute inset-x-0 top-0 px-4" style={{ transform: `translateY(${item.start}px)` }}>
                {row && <Drawn row={row} last={item.index === rows.length - 1} />}
              </div>
            );
          })}
          {fault && <div className="absolute inset-x-0 bottom-2 px-4"><FaultRow fault={fault} /></div>}
        </div>
      </div>
      {away && (
        <Button
          size="small"
          className="absolute bottom-2 left-1/2 -translate-x-1/2 rounded-full bg-surface shadow-lg"
          onClick={() => {
            stuck.current = true;
            toEnd();
            box.current?.focus({ preventScroll: true });
          }}
        >
          <ArrowDown className="size-4" aria-hidden="true" />
          Jump to latest
        </Button>
      )}
    </div>
  );
}

function fromEnd(el: HTMLElement): number {
  return el.scrollHeight - el.scrollTop - el.clientHeight;
}

function Drawn({ row, last }: { row: Row; last: boolean }) {
  return row.message?.role === "user" ? <UserMessage message={row.message} /> : <AgentMessage message={row.message} turn={row.turn} last={last} />;
}
