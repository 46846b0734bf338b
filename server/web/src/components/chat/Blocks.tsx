import { memo, startTransition, useEffect, useMemo, useState } from "react";
import { Markdown } from "@/components/ui/Markdown";
import { growBlocks, splitBlocks } from "@/lib/blocks";
import { cn } from "@/lib/cn";

// So many pieces are drawn in one go. Of a longer text the last ones are drawn
// first, and those before them between frames: a chat opens at its end.
const groupSize = 16;
const atOnce = 2 * groupSize;

/** Blocks is Markdown of any length, which may grow: pieces that are finished are never drawn again. */
export function Blocks({ text, cursor }: { text: string; cursor?: boolean }) {
  const [read, setRead] = useState(() => ({ text: "", blocks: [] as string[], hidden: 0 }));
  let now = read;
  if (read.text !== text) {
    const blocks = growBlocks(read, text);
    const leap = blocks.length - read.blocks.length > atOnce;
    now = { text, blocks, hidden: leap ? whole(blocks.length - atOnce) : Math.min(read.hidden, whole(blocks.length)) };
    setRead(now);
  }
  const { hidden } = now;
  useEffect(() => {
    if (hidden === 0) return;
    const frame = requestAnimationFrame(() => startTransition(() => setRead((r) => ({ ...r, hidden: Math.max(0, r.hidden - atOnce) }))));
    return () => cancelAnimationFrame(frame);
  }, [hidden]);
  const groups = [];
  for (let from = hidden; from < now.blocks.length; from += groupSize) groups.push(<Group key={from} text={now.blocks.slice(from, from + groupSize).join("")} />);
  return <div className={cn("markdown-blocks", cursor && "streaming")}>{groups}</div>;
}

function whole(n: number): number {
  return n - (n % groupSize);
}

/** Group is some pieces in a row, so that a long text is looked at by sixteens. */
const Group = memo(function Group({ text }: { text: string }) {
  const blocks = useMemo(() => splitBlocks(text), [text]);
  return (
    <div className="markdown-blocks">
      {blocks.map((block, i) => (
        // A piece keeps its place for good.
        <Markdown key={i} text={block} />
      ))}
    </div>
  );
});
