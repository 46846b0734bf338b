// What a tool's page may tell this one. It is a stranger's page: it can ask for a
// height, say that it is ready, and tell of something that nothing listens to.
// Whatever else comes from it is nothing.

export type FrameMessage = { type: "resize"; height: number } | { type: "ready" } | { type: "event"; payload: unknown };

const maxPayload = 64 << 10;
export const maxHeight = 4_000;

export function readFrameMessage(data: unknown): FrameMessage | null {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return null;
  const own = (name: string): unknown => (Object.hasOwn(data, name) ? (data as Record<string, unknown>)[name] : undefined);
  switch (own("type")) {
    case "ready":
      return { type: "ready" };
    case "resize": {
      const height = own("height");
      if (typeof height !== "number" || !Number.isFinite(height) || height <= 0 || height > maxHeight) return null;
      return { type: "resize", height: Math.round(height) };
    }
    case "event": {
      const payload = own("payload");
      return isSmall(payload) ? { type: "event", payload } : null;
    }
  }
  return null;
}

function isSmall(payload: unknown): boolean {
  try {
    return (JSON.stringify(payload) ?? "").length <= maxPayload;
  } catch {
    return false; // it contains itself, or numbers that JSON has none of
  }
}
