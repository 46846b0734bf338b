// What a person decides on is seen as it is: characters that turn a line around,
// or that nobody sees, are written out.

// Line breaks and tabs are seen; the rest of these isn't, or moves what is.
const hidden = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/gu;

// Joiners belong to emoji and to scripts that join; between plain letters they hide.
const joiner = /^[\u200c\u200d]$/;
const joined = /[^\p{ASCII}\p{C}]|[\ud800-\udfff]/u; // or half of an emoji

/** visible is a text in which nothing is hidden: U+202E stands there as ⟨U+202E⟩. */
export function visible(text: string): string {
  return text.replace(hidden, (c, at: number) => {
    if (c === "\n" || c === "\t" || (c === "\r" && text[at + 1] === "\n")) return c;
    if (joiner.test(c) && joined.test(text.slice(0, at).slice(-1)) && joined.test(text.slice(at + 1, at + 2))) return c;
    return `⟨U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}
