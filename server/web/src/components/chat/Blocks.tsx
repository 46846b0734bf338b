import { startTransition, useEffect, useMemo, useState } from "react";
import { Markdown } from "@/components/ui/Markdown";
import { splitBlocks } from "@/lib/blocks";

// So many pieces are drawn in one go; a longer text is drawn on between frames.
const atOnce = 24;

/** Blocks is Markdown of any length, which may grow: pieces that are finished are never drawn again. */
export function Blocks({ text, cursor }: { text: string; cursor?: boolean }) {
  const blocks = useMemo(() => splitBlocks(text), [text]);
  const [shown, setShown] = useState(atOnce);
  useEffect(() => {
    if (shown >= blocks.length) return;
    const frame = requestAnimationFrame(() => startTransition(() => setShown((n) => n + atOnce)));
    return () => cancelAnimationFrame(frame);
  }, [shown, blocks.length]);
  return (
    <div className="markdown-blocks" dir="auto">
      {blocks.slice(0, shown).map((block, i) => (
        // A piece keeps its place for good.
        <Markdown key={i} text={block} />
      ))}
      {cursor && (
        <span className="streaming-cursor font-mono text-accent-ink" aria-hidden="true">
          |
        </span>
      )}
    </div>
  );
}
