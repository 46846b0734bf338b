import type { Schemas } from "@/lib/api/client";

/** pieces splits a text at the words that were found. Their offsets count characters, not UTF-16 units. */
export function pieces(text: string, at: readonly (readonly number[])[]): { text: string; found: boolean }[] {
  const characters = [...text];
  const out: { text: string; found: boolean }[] = [];
  let last = 0;
  const add = (end: number, found: boolean) => {
    if (end > last) out.push({ text: characters.slice(last, end).join(""), found });
    last = Math.max(last, end);
  };
  for (const [begin = 0, end = 0] of at) {
    add(begin, false);
    add(end, true);
  }
  add(characters.length, false);
  return out;
}

/** rankedBy describes how the passages were ranked, and which provider received the text of documents. */
export function rankedBy(found: Pick<Schemas["passages"], "passages" | "model" | "no_meaning" | "embedded">): string {
  if (found.no_meaning) return `Found by words alone: ${found.no_meaning}`;
  if (found.passages.length === 0) return "Nothing was found.";
  if (!found.model) return "Found by words. With an embedding model in the configuration, also by meaning.";
  const sent = found.embedded ? ` It received the text of ${found.embedded === 1 ? "1 document" : `${String(found.embedded)} documents`}.` : "";
  return `Found by words and by meaning, with ${found.model}.${sent}`;
}
