import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { pathFrom } from "@/lib/links";
import { useUI } from "@/lib/ui";
import MarkdownBody from "./MarkdownBody";

afterEach(cleanup);

function draw(text: string, file?: string) {
  return render(
    <div className="markdown">
      <MarkdownBody text={text} file={file} />
    </div>,
  );
}

it("opens only addresses outside in a tab", () => {
  draw("[a](https://a.test/) [b](/c/12) [c](notes.md) ![d](pic.png) [e](javascript:x) [f](?q=1)");
  expect(screen.getAllByRole("link").map((l) => l.getAttribute("href"))).toEqual(["https://a.test/"]);
  expect(screen.queryAllByRole("button")).toEqual([]);
});

it("scrolls to a footnote and back", () => {
  const { container } = draw("See[^1].\n\n[^1]: The note.");
  const seen: string[] = [];
  vi.spyOn(Element.prototype, "scrollIntoView").mockImplementation(function (this: Element) {
    seen.push(this.tagName);
  });
  expect(container.querySelector("a")).toBeNull();
  for (const button of screen.getAllByRole("button")) fireEvent.click(button);
  expect(seen[0]).toBe("LI");
  expect(seen.length).toBe(2);
});

it("opens a file beside the one that is read", () => {
  const select = vi.fn();
  useUI.setState({ select });
  draw("[other](../b%20c.md#part)", "docs/a.md");
  fireEvent.click(screen.getByRole("button", { name: "other" }));
  expect(select).toHaveBeenCalledWith({ kind: "file", path: "b c.md" });
});

it("reads tables, tasks, strikes and addresses without what writes Markdown", () => {
  const { container } = draw("| a | b |\n|---|---|\n| `1` | 2 |\n\n- [x] done\n- [ ] open\n\n~~gone~~ www.a.test");
  expect(container.querySelectorAll("td").length).toBe(2);
  expect(container.querySelectorAll("input[type=checkbox]").length).toBe(2);
  expect(container.querySelector("del")?.textContent).toBe("gone");
  expect(container.querySelector("a")?.getAttribute("href")).toBe("http://www.a.test");
});

it("stays within the workspace", () => {
  expect(pathFrom("a/b.md", "./c.md")).toBe("a/c.md");
  expect(pathFrom("a/b.md", "/c.md")).toBe("c.md");
  expect(pathFrom("a/b.md", "../../c.md")).toBeNull();
  expect(pathFrom("a/b.md", "..")).toBeNull();
  expect(pathFrom("a/b.md", "%zz")).toBe("a/%zz");
});
