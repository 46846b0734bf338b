// Frames of a text/event-stream, read from fetch: EventSource can send neither a
// body nor a token.

export interface Frame {
  id: string;
  event: string;
  data: string;
}

// A frame larger than this is none of fettle's.
const maxFrame = 64 << 20;

/** frames reads a stream's frames in order. It ends with the stream. */
export async function* frames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let frame = { id: "", event: "", data: [] as string[] };
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      if (rest.length > maxFrame) throw new Error("a frame of the stream is too large");
      let start = 0;
      for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n", start)) {
        const line = rest.slice(start, rest[end - 1] === "\r" && end > start ? end - 1 : end);
        start = end + 1;
        if (line === "") {
          if (frame.data.length > 0) yield { id: frame.id, event: frame.event, data: frame.data.join("\n") };
          frame = { id: frame.id, event: "", data: [] };
          continue;
        }
        const colon = line.indexOf(":");
        if (colon === 0) continue; // a keep-alive
        const name = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (name === "data") frame.data.push(value);
        else if (name === "id") frame.id = value;
        else if (name === "event") frame.event = value;
      }
      rest = rest.slice(start);
    }
  } finally {
    reader.cancel().catch(() => {}); // the stream may be gone already
  }
}
