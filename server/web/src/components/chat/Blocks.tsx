import { memo, useEffect, useMemo, useState } from "react";
import { Markdown } from "@/components/ui/Markdown";
import { growBlocks, splitBlocks } from "@/lib/blocks";

// So many pieces are drawn in one go. Of a longer text the last ones are drawn
// first, and those before them between frames: a chat opens at its end. A text
// that leaps, as a replay does, is caught up with in the same steps.
const groupSize = 8;
const atOnce = 2 * groupSize;

/** Blocks is Markdown of any length, which may grow: pieces that are finished are never drawn again. */
export function Blocks({ text, cursor }: { text: string; cursor?: boolean }) {
  const [grown] = useState(() => new Grown());
  const blocks = grown.read(text);
  const n = blocks.length;
  const [drawn, setDrawn] = useState(() => ({ from: whole(Math.max(0, n - atOnce)), to: n + atOnce }));
  const { from, to } = drawn;
  useEffect(() => {
    if (from === 0 && to >= n + atOnce) return;
    const frame = requestAnimationFrame(() => setDrawn({ from: Math.max(0, from - atOnce), to: Math.max(to, Math.min(n, to) + 2 * atOnce) }));
    return () => cancelAnimationFrame(frame);
  }, [from, to, n]);
  const groups = [];
  const end = Math.min(n, to);
  for (let at = from; at < end; at += groupSize) groups.push(<Group key={at} text={blocks.slice(at, Math.min(end, at + groupSize)).join("")} cursor={cursor && at + groupSize >= end} />);
  return <div className="markdown-blocks">{groups}</div>;
}

/** Grown remembers how a text was cut, so that each time only its end is looked at. */
class Grown {
  private before = { text: "", blocks: [] as string[] };

  read(text: string): string[] {
    if (this.before.text !== text) this.before = { text, blocks: growBlocks(this.before, text) };
    return this.before.blocks;
  }
}

function whole(n: number): number {
  return n - (n % groupSize);
}

/** Group is some pieces in a row, so that a long text is looked at by eights. */
const Group = memo(function Group({ text, cursor }: { text: string; cursor?: boolean }) {
  const blocks = useMemo(() => splitBlocks(text), [text]);
  return (
    <div className="markdown-blocks">
      {blocks.map((block, i) => (
        // A piece keeps its place for good.
        <Markdown key={i} text={block} cursor={cursor && i === blocks.length - 1} />
      ))}
    </div>
  );
});
