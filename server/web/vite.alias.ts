const src = new URL("src/", import.meta.url).pathname;

/** alias is where the page, the web component and the tests find what they import. */
export const alias = {
  "@": src.slice(0, -1),
  // What packages bring along and a browser has, or the page never calls.
  "mdast-util-to-markdown": src + "lib/noMarkdownWriter.ts",
};
