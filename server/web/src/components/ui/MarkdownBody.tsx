import type { ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { CodeBlock } from "./CodeBlock";

/** Outside is a link that tells the other side nothing of this page. */
function Outside({ href, children }: { href?: string; children?: ReactNode }) {
  if (!href) return <>{children}</>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" className="text-accent-ink underline">
      {children}
    </a>
  );
}

const components: Components = {
  a: ({ href, children }) => <Outside href={href}>{children}</Outside>,
  // An image's address would tell its server that this was read, and what the model put into it.
  img: ({ src, alt }) => <Outside href={typeof src === "string" ? src : undefined}>{alt || "image"}</Outside>,
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  table: ({ children }) => (
    <div className="overflow-x-auto">
      <table>{children}</table>
    </div>
  ),
};

export default function MarkdownBody({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={[remarkGfm]} rehypePlugins={[rehypeSanitize]} components={components}>
      {text}
    </ReactMarkdown>
  );
}
