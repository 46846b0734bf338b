import { lazy, memo, Suspense } from "react";
import { cn } from "@/lib/cn";

const Body = lazy(() => import("./MarkdownBody"));

/** Markdown shows a text of a model's or a toolset's: sanitised, and with no address fetched. Until its reader is loaded the text stands as it is. One that is a file of the workspace leads to others; one that is being written has a cursor. */
export const Markdown = memo(function Markdown({ text, file, cursor }: { text: string; file?: string; cursor?: boolean }) {
  return (
    <div className={cn("markdown min-w-0 break-words", cursor && "streaming")}>
      <Suspense fallback={<p className="whitespace-pre-wrap">{text}</p>}>
        <Body text={text} file={file} />
      </Suspense>
    </div>
  );
});
