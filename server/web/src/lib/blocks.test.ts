import { describe, expect, it } from "vitest";
import { growBlocks, splitBlocks } from "./blocks";

describe("splitBlocks", () => {
  it.each([
    ["paragraphs", "a\n\nb\n\nc", ["a\n\n", "b\n\n", "c"]],
    ["code with blank lines in it", "a\n\n```go\nx\n\ny\n```\n\nb", ["a\n\n", "```go\nx\n\ny\n```\n\n", "b"]],
    ["code that isn't closed yet", "a\n\n```go\nx\n\ny", ["a\n\n", "```go\nx\n\ny"]],
    ["a longer fence around a shorter one", "````\n```\n\nx\n```\n\n````\n\nb", ["````\n```\n\nx\n```\n\n````\n\n", "b"]],
    ["a loose list", "- a\n\n- b\n\n  more\n\nc", ["- a\n\n- b\n\n  more\n\n", "c"]],
    ["a numbered list", "1. a\n\n2. b", ["1. a\n\n2. b"]],
    ["a definition at the end", "see [x]\n\nb\n\n[x]: https://example.org", ["see [x]\n\nb\n\n[x]: https://example.org"]],
    ["nothing", "", []],
  ])("%s", (_, text, blocks) => {
    expect(splitBlocks(text)).toEqual(blocks);
  });

  it("changes only the last piece while a text grows", () => {
    const text = "# T\n\nOne para.\n\n```js\nlet a;\n\nlet b;\n```\n\n- x\n- y\n\nEnd.\n";
    for (let n = 1; n < text.length; n++) {
      const now = splitBlocks(text.slice(0, n));
      const next = splitBlocks(text.slice(0, n + 1));
      expect(next.slice(0, now.length - 1)).toEqual(now.slice(0, -1));
      expect(now.join("")).toBe(text.slice(0, n));
    }
  });

  it("is the same for a text that grew", () => {
    const text = "# T\n\nOne para.\n\n```js\nlet a;\n\nlet b;\n```\n\n- x\n\n- y\n\nSee [z].\n\n[z]: https://example.org\n";
    let before = { text: "", blocks: [] as string[] };
    for (let n = 0; n <= text.length; n += 3) {
      const now = text.slice(0, n);
      before = { text: now, blocks: growBlocks(before, now) };
      expect(before.blocks).toEqual(splitBlocks(now));
    }
  });
});
