import { followTurn } from "@/lib/api/generalChatApi";
import type { TurnEvent } from "@/lib/api/client";

/** Batch gathers events and hands them on once a frame, so that a fast stream makes no work that the eye can't see. */
class Batch {
  private queue: TurnEvent[] = [];
  private timer = 0;
  private framed = false;
  private readonly take;

  constructor(take: (events: TurnEvent[]) => void) {
    this.take = take;
  }

  add(event: TurnEvent) {
    this.queue.push(event);
    if (this.timer) return;
    // Hidden pages have no frames.
    this.framed = document.visibilityState === "visible";
    this.timer = this.framed ? requestAnimationFrame(this.flush) : window.setTimeout(this.flush, 200);
  }

  readonly flush = () => {
    this.drop();
    if (this.queue.length === 0) return;
    const events = this.queue;
    this.queue = [];
    this.take(events);
  };

  drop() {
    if (this.timer) (this.framed ? cancelAnimationFrame : clearTimeout)(this.timer);
    this.timer = 0;
  }
}

/** follow hands on a turn's events in batches until it ends or the signal aborts. */
export async function follow(
  turn: string,
  o: { after: number; signal: AbortSignal; onBroken(broken: boolean): void; onEvents(events: TurnEvent[]): void },
): Promise<void> {
  const batch = new Batch((events) => {
    if (!o.signal.aborted) o.onEvents(events);
  });
  try {
    for await (const event of followTurn(turn, o)) batch.add(event);
  } finally {
    if (o.signal.aborted) batch.drop();
    else batch.flush();
  }
}
