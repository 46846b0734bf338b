import { api, request, type Schemas, type TurnEvent } from "./client";
import { ApiFault } from "./fault";
import { frames } from "./sse";

export type TurnRequest = Schemas["turn_"];
export type StartedTurn = Schemas["turn"];

// A lost network is tried again after these times, and then every last one, as
// long as the server keeps the turn.
const waits = [250, 500, 1_000, 2_000, 4_000];

/** cancelTurn asks the server to stop a turn; a second time it waits for no tool. */
export async function cancelTurn(turn: string): Promise<void> {
  await api.POST("/api/turns/{turn}/cancel", { params: { path: { turn } } });
}

function isEnd(event: TurnEvent): boolean {
  return event.type === "complete" || event.type === "error" || event.type === "cancelled";
}

/**
 * followTurn gives the events of a turn, live or ended, once each and in order,
 * from the one after `after` (0: from the first). A broken connection is taken up
 * where it broke; `onBroken` tells of it, and of its end. It returns after the
 * turn's end, or when the signal aborts.
 */
export async function* followTurn(
  turn: string,
  { after = 0, signal, onBroken }: { after?: number; signal?: AbortSignal; onBroken?: (broken: boolean) => void } = {},
): AsyncGenerator<TurnEvent> {
  let last = after;
  for (let failures = 0; !signal?.aborted; ) {
    try {
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (last > 0) headers["Last-Event-ID"] = String(last);
      const response = await request(`/api/turns/${encodeURIComponent(turn)}/events?form=events`, { headers, signal });
      if (response.status === 204 || !response.body) return;
      for await (const frame of frames(response.body)) {
        if (failures > 0) onBroken?.(false);
        failures = 0;
        const event = JSON.parse(frame.data) as TurnEvent;
        if (typeof event.seq === "number") {
          if (event.seq <= last) continue;
          last = event.seq;
        }
        yield event;
        if (isEnd(event)) return;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof ApiFault && error.status < 500 && error.status !== 429) throw error;
    }
    if (signal?.aborted) return;
    onBroken?.(true);
    await pause(waits[Math.min(failures, waits.length - 1)] ?? 1_000, signal);
    failures++;
  }
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      window.removeEventListener("online", done);
      resolve();
    }
    signal?.addEventListener("abort", done);
    window.addEventListener("online", done);
  });
}
