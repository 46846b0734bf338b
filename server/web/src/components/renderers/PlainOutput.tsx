import { Copy, Download } from "lucide-react";
import { useMemo, useState } from "react";
import { Button, IconButton } from "@/components/ui/Button";
import { copy } from "@/lib/clipboard";
import { saveBlob } from "@/lib/download";
import { bytes } from "@/lib/time";
import { Code } from "./code";

// So much is drawn at once; what is longer is folded.
const maxChars = 4_000;
const maxLines = 40;
// Larger JSON is left as it came: to indent it would take longer than it helps.
const maxPretty = 300_000;

/** PlainOutput is a result as it is: text, or JSON set out in lines. */
export function PlainOutput({ text, name, fill }: { text: string; name: string; fill?: boolean }) {
  const { shown, language } = useMemo(() => pretty(text), [text]);
  const short = useMemo(() => beginning(shown), [shown]);
  const [open, setOpen] = useState(false);
  const folded = short.length < shown.length;
  return (
    <div className={fill ? "flex h-full min-h-0 flex-col" : "flex flex-col"}>
      <div className="flex shrink-0 items-center gap-0.5 border-b border-border py-0.5 pr-1 pl-3 text-[13px] text-muted">
        <span className="min-w-0 flex-1 truncate">{language === "json" ? "JSON" : "Text"}, {bytes(text.length)}</span>
        <IconButton label="Copy" onClick={() => copy(text)}>
          <Copy />
        </IconButton>
        <IconButton label="Download" onClick={() => saveBlob(new Blob([text], { type: "text/plain" }), `${name}.${language === "json" ? "json" : "txt"}`)}>
          <Download />
        </IconButton>
      </div>
      {open && folded ? (
        <div className={fill ? "min-h-0 flex-1" : "h-96"}>
          <Code value={shown} label={`Output of ${name}`} language={language} readOnly wrap />
        </div>
      ) : (
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        <pre tabIndex={0} aria-label={`Output of ${name}`} dir="auto" className={`scroll-y p-3 font-mono text-[13px] leading-5 break-words whitespace-pre-wrap outline-offset-[-2px] ${fill ? "min-h-0 flex-1" : "max-h-96"}`}>
          {short || "The tool gave no output."}
          {folded && <span className="text-muted"> …</span>}
        </pre>
      )}
      {folded && (
        <div className="shrink-0 border-t border-border px-2 py-1">
          <Button size="small" look="quiet" onClick={() => setOpen(!open)}>
            {open ? "Show its beginning" : `Show all of it (${bytes(shown.length)})`}
          </Button>
        </div>
      )}
    </div>
  );
}

export function pretty(text: string): { shown: string; language: "json" | "text" } {
  const first = text.trimStart()[0];
  if ((first !== "{" && first !== "[") || text.length > maxPretty) return { shown: text, language: "text" };
  try {
    return { shown: JSON.stringify(JSON.parse(text), null, 2), language: "json" };
  } catch {
    return { shown: text, language: "text" };
  }
}

/** beginning is what is seen of a folded text; a whole short one. */
export function beginning(text: string): string {
  let end = Math.min(text.length, maxChars);
  let at = -1;
  for (let line = 0; line < maxLines; line++) {
    at = text.indexOf("\n", at + 1);
    if (at < 0 || at >= end) return text.slice(0, end);
  }
  end = at;
  return at + 1 >= text.length ? text : text.slice(0, end);
}
