// Stands in for mdast-util-to-markdown, which remark-gfm brings along to write
// Markdown. The page only reads it, and what reads never calls these.
export const defaultHandlers = {};
