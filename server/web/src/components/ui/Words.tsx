import { Fragment } from "react";

// A hint that is one command, to be pasted as it is.
const command = /^(fettle|ollama|export) \S/;

/** Words is a text of fettle's own, with what stands between backticks, and a command that is all of it, as code. */
export function Words({ children: text }: { children: string }) {
  if (command.test(text)) return <code className="font-mono text-xs whitespace-pre-wrap">{text}</code>;
  return text.split("`").map((part, i, all) => {
    const code = i % 2 === 1 && i < all.length - 1;
    return code ? (
      <code key={i} className="font-mono text-[0.92em]">
        {part}
      </code>
    ) : (
      <Fragment key={i}>{i % 2 === 1 ? `\`${part}` : part}</Fragment>
    );
  });
}
