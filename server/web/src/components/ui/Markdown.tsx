import { lazy, memo, Suspense } from "react";

const Body = lazy(() => import("./MarkdownBody"));

/** Markdown shows a text of a model's or a toolset's: sanitised, and with no address fetched. Until its reader is loaded the text stands as it is. One that is a file of the workspace leads to others. */
export const Markdown = memo(function Markdown({ text, file }: { text: string; file?: string }) {
  return (
    <div className="markdown min-w-0 break-words">
      <Suspense fallback={<p className="whitespace-pre-wrap">{text}</p>}>
        <Body text={text} file={file} />
      </Suspense>
    </div>
  );
});
