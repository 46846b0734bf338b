// A long answer in pieces that can be drawn one by one: while it grows only its
// last piece is read anew.

const fence = /^ {0,3}(`{3,}|~{3,})/;

/** splitBlocks cuts Markdown where blank lines end a paragraph, a list or a table, and never within code. */
export function splitBlocks(text: string): string[] {
  const out: string[] = [];
  let start = 0;
  let open = ""; // the fence that is open
  let blank = false; // the line before was blank
  for (let at = 0; at < text.length; ) {
    let end = text.indexOf("\n", at);
    if (end < 0) end = text.length;
    const line = text.slice(at, end);
    if (blank && !open && at > start && begins(line)) {
      out.push(text.slice(start, at));
      start = at;
    }
    const mark = fence.exec(line)?.[1];
    if (mark && !open) open = mark;
    else if (mark && mark[0] === open[0] && mark.length >= open.length && line.trim() === mark) open = "";
    blank = line.trim() === "";
    at = end + 1;
  }
  if (start < text.length) out.push(text.slice(start));
  return text.length <= maxWhole && refers.test(text) ? [text] : out;
}

/** growBlocks cuts a text that begins as the one before did: only what follows the last boundary is looked at. */
export function growBlocks(before: { text: string; blocks: string[] }, text: string): string[] {
  const { blocks } = before;
  if (blocks.length < 2 || !text.startsWith(before.text)) return splitBlocks(text);
  const kept = blocks.slice(0, -1);
  const from = kept.reduce((n, block) => n + block.length, 0);
  const tail = text.slice(from);
  return refers.test(tail) && text.length <= maxWhole ? [text] : [...kept, ...splitBlocks(tail)];
}

// A line that is indented, or the next item of a list, goes with what is before it.
function begins(line: string): boolean {
  return line.trim() !== "" && !/^(\s|[-*+]( |$)|\d+([.)]( |$)|$))/.test(line);
}

// Footnotes and link definitions belong to the whole text, where it is short enough to be read at once.
const maxWhole = 20_000;
const refers = /^ {0,3}\[[^\]\n]+\]:/m;
