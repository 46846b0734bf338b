// Document 000's [[tool:N]]: the place of a call's card in an answer's text.

export type Segment = { kind: "text"; text: string } | { kind: "tool"; index: number };

const marker = /\[\[tool:(\d+)\]\]/g;

/** escapeMarkers keeps a model's own words from becoming a card, as the server does. */
function escapeMarkers(text: string): string {
  return text.includes("[[tool:") ? text.replace(/\[\[(tool:\d+\]\])/g, "\\[\\[$1") : text;
}

/** splitMarkers gives a text's pieces and the cards between them, in order. */
export function splitMarkers(content: string): Segment[] {
  const out: Segment[] = [];
  let at = 0;
  for (const match of content.matchAll(marker)) {
    if (match.index > at) out.push({ kind: "text", text: content.slice(at, match.index) });
    out.push({ kind: "tool", index: Number(match[1]) });
    at = match.index + match[0].length;
  }
  if (at < content.length) out.push({ kind: "text", text: content.slice(at) });
  return out;
}

/** joinMarkers is the text of segments, as an answer's content has it. */
export function joinMarkers(segments: Segment[]): string {
  return segments.map((s) => (s.kind === "text" ? escapeMarkers(s.text) : `[[tool:${s.index}]]`)).join("");
}

/** dropMarkers leaves the places of cards out. What a model wrote escaped stays so. */
export function dropMarkers(content: string): string {
  return content.replace(marker, "\n\n");
}

/** withoutMarkers is what a person copies. */
export function withoutMarkers(content: string): string {
  return dropMarkers(content).replace(/\\\[\\\[(tool:\d+\]\])/g, "[[$1").trim();
}
