// Unified diffs of two texts. It stands in the part of the page that is loaded
// when a diff is first opened.
import { Chunk } from "@codemirror/merge";
import { Text } from "@codemirror/state";

export interface DiffLine {
  sign: " " | "+" | "-";
  text: string;
  old?: number; // its number in the old file, from 1
  new?: number;
  /** the file has no end of line after it */
  open?: boolean;
}

export interface Hunk {
  head: string; // @@ -1,3 +1,4 @@
  lines: DiffLine[];
}

export interface Unified {
  hunks: Hunk[];
  added: number;
  removed: number;
  /** lines that are left out, since nobody reads so many */
  cut: number;
}

const around = 3;
export const maxLines = 2_000;

interface Change {
  fromA: number; // lines, from 0; to is the one after the last
  toA: number;
  fromB: number;
  toB: number;
}

/** unified compares two texts by lines. The ends of lines that differ alone are a difference, too. */
export function unified(before: string, after: string, most = maxLines): Unified {
  const a = lines(before);
  const b = lines(after);
  const changes = changedLines(a, b);
  const out: Unified = { hunks: [], added: 0, removed: 0, cut: 0 };
  let shown = 0;
  for (let i = 0; i < changes.length; ) {
    // Changes whose surroundings touch are one hunk.
    let last = i;
    while (last + 1 < changes.length && (changes[last + 1]?.fromA ?? 0) - (changes[last]?.toA ?? 0) <= 2 * around) last++;
    const group = changes.slice(i, last + 1);
    i = last + 1;
    for (const c of group) {
      out.removed += c.toA - c.fromA;
      out.added += c.toB - c.fromB;
    }
    const hunk = hunkOf(a, b, group);
    const room = Math.max(0, most - shown);
    out.cut += Math.max(0, hunk.lines.length - room);
    if (room > 0) out.hunks.push(hunk.lines.length > room ? { ...hunk, lines: hunk.lines.slice(0, room) } : hunk);
    shown += hunk.lines.length;
  }
  return out;
}

/** Lines are those of a text, without the empty one behind its last end of line. */
interface Lines {
  all: string[];
  open: boolean;
}

function lines(text: string): Lines {
  if (text === "") return { all: [], open: false };
  const all = text.split("\n");
  const open = all[all.length - 1] !== "";
  if (!open) all.pop();
  return { all, open };
}

function changedLines(a: Lines, b: Lines): Change[] {
  // Chunk compares documents; a mark makes a last line without an end another one.
  const docA = docOf(a);
  const docB = docOf(b);
  if (a.all.length === 0 || b.all.length === 0) {
    return a.all.length === b.all.length ? [] : [{ fromA: 0, toA: a.all.length, fromB: 0, toB: b.all.length }];
  }
  return Chunk.build(docA, docB, { scanLimit: 2_000, timeout: 300 }).map((c) => {
    const [fromA, toA] = side(docA, c.fromA, c.toA);
    const [fromB, toB] = side(docB, c.fromB, c.toB);
    return trim(docA, docB, { fromA, toA, fromB, toB });
  });
}

/** trim leaves out lines at a change's ends that are the same: one is in it whose end of line alone was added. */
function trim(a: Text, b: Text, change: Change): Change {
  let { fromA, toA, fromB, toB } = change;
  const same = (i: number, j: number) => a.line(i + 1).text === b.line(j + 1).text;
  for (; fromA < toA && fromB < toB && same(fromA, fromB); fromA++) fromB++;
  for (; toA > fromA && toB > fromB && same(toA - 1, toB - 1); toA--) toB--;
  return { fromA, toA, fromB, toB };
}

function docOf(l: Lines): Text {
  return Text.of(l.all.length === 0 ? [""] : l.open ? [...l.all.slice(0, -1), (l.all[l.all.length - 1] ?? "") + "\u0000"] : l.all);
}

/** side is the lines of a chunk; an empty one lies before the line at its place. */
function side(doc: Text, from: number, to: number): [from: number, to: number] {
  const first = from > doc.length ? doc.lines : doc.lineAt(from).number - 1;
  const end = to === from ? first : to > doc.length ? doc.lines : doc.lineAt(to).number - 1;
  return [first, end];
}

function hunkOf(a: Lines, b: Lines, group: Change[]): Hunk {
  const first = group[0];
  const last = group[group.length - 1];
  if (!first || !last) return { head: "", lines: [] };
  const startA = Math.max(0, first.fromA - around);
  const startB = Math.max(0, first.fromB - (first.fromA - startA));
  const out: DiffLine[] = [];
  let atA = startA;
  let atB = startB;
  const same = (until: number) => {
    for (; atA < until; atA++, atB++) out.push({ sign: " ", text: a.all[atA] ?? "", old: atA + 1, new: atB + 1 });
  };
  for (const c of group) {
    same(c.fromA);
    for (; atA < c.toA; atA++) out.push({ sign: "-", text: a.all[atA] ?? "", old: atA + 1, ...(a.open && atA === a.all.length - 1 ? { open: true } : {}) });
    for (; atB < c.toB; atB++) out.push({ sign: "+", text: b.all[atB] ?? "", new: atB + 1, ...(b.open && atB === b.all.length - 1 ? { open: true } : {}) });
  }
  same(Math.min(a.all.length, atA + around));
  const countA = atA - startA;
  const countB = atB - startB;
  return { head: `@@ -${countA ? startA + 1 : startA},${countA} +${countB ? startB + 1 : startB},${countB} @@`, lines: out };
}
