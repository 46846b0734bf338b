import { useState } from "react";
import { Button } from "@/components/ui/Button";
import { Markdown } from "@/components/ui/Markdown";
import { cn } from "@/lib/cn";
import { cut } from "@/lib/workspace/read";

const part = 60_000;

/** LongText is a text as it is, in parts where it is very long. */
export function LongText({ text, mono = true, wrap = true }: { text: string; mono?: boolean; wrap?: boolean }) {
  const [shown, setShown] = useState(part);
  return (
    <>
      <pre
        dir="auto"
        // Long lines are scrolled by keyboard too.
        tabIndex={wrap ? undefined : 0}
        className={cn("scroll-y overflow-x-auto text-[13px] leading-relaxed", mono ? "font-mono" : "font-sans", wrap && "break-words whitespace-pre-wrap")}
      >
        {text.length > shown ? cut(text, shown) : text}
      </pre>
      {text.length > shown && (
        <Button size="small" className="mt-3" onClick={() => setShown(shown + 4 * part)}>
          Show more of {text.length.toLocaleString()} characters
        </Button>
      )}
    </>
  );
}

/** Prose is Markdown; a text too long to be laid out at once is shown as it is. */
export function Prose({ text }: { text: string }) {
  if (text.length > part) return <LongText text={text} mono={false} />;
  return (
    <div dir="auto">
      <Markdown text={text} />
    </div>
  );
}
