import { createContext, memo, use, type ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { decoded, pathFrom } from "@/lib/links";
import { useUI } from "@/lib/ui";
import { CodeBlock } from "./CodeBlock";

/** FromFile is the workspace's file that a text is, whose links lead to others. */
const FromFile = createContext<string | null>(null);

const look = "text-accent-ink underline";

/** Link leads to a place of the text, to a file beside it, or outside. */
function Link({ href, id, label, children }: { href?: string; id?: string; label?: string; children?: ReactNode }) {
  const from = use(FromFile);
  if (!href) return <>{children}</>;
  if (href.startsWith("#")) {
    return (
      <button type="button" id={id} aria-label={label} className={look} onClick={(e) => scrollTo(e.currentTarget, href.slice(1))}>
        {children}
      </button>
    );
  }
  if (!/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(href)) {
    // An address of this page's own would be another page, which asks for the token.
    const path = from === null ? null : pathFrom(from, href);
    if (!path) return <>{children}</>;
    return (
      <button type="button" className={look} onClick={() => useUI.getState().select({ kind: "file", path })}>
        {children}
      </button>
    );
  }
  return <Outside href={href}>{children}</Outside>;
}

/** scrollTo brings a place into view: within its own text, whatever else has the same name. */
function scrollTo(link: Element, id: string) {
  const name = decoded(id);
  // The sanitiser puts its prefix before every id, and so before the footnotes' own.
  const places = [name, `user-content-${name}`].map((n) => `#${CSS.escape(n)}`).join(", ");
  link.closest(".markdown")?.querySelector(places)?.scrollIntoView({ block: "nearest" });
}

/** Outside is a link that tells the other side nothing of this page. */
function Outside({ href, children }: { href: string; children?: ReactNode }) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" className={look}>
      {children}
    </a>
  );
}

const components: Components = {
  a: ({ href, id, children, "aria-label": label }) => (
    <Link href={href} id={id} label={label}>
      {children}
    </Link>
  ),
  // An image's address would tell its server that this was read, and what the model put into it.
  img: ({ src, alt }) => <Link href={typeof src === "string" ? src : undefined}>{alt || "image"}</Link>,
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  // Of a list of tasks; the model's text has no other.
  input: ({ checked }) => <input type="checkbox" checked={checked ?? false} disabled aria-label={checked ? "Done" : "To do"} />,
  table: ({ children }) => (
    // A scrolling box has to be reachable by keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div tabIndex={0} role="group" aria-label="Table" className="overflow-x-auto">
      <table>{children}</table>
    </div>
  ),
};

/** MarkdownBody reads a text once, whatever changes around it. */
export default memo(function MarkdownBody({ text, file }: { text: string; file?: string }) {
  return (
    <FromFile value={file ?? null}>
      <ReactMarkdown remarkPlugins={[remarkGfm]} rehypePlugins={[rehypeSanitize]} components={components}>
        {text}
      </ReactMarkdown>
    </FromFile>
  );
});
