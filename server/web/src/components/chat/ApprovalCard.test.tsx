import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { Proposed } from "./ApprovalCard";

afterEach(cleanup);

const all = { path: "notes.md", content: "the content", command: "make all", old_text: "what was", new_text: "what comes", mode: "0755" };

it.each([
  ["a command", Object.keys(all)],
  ["an edit", ["path", "old_text", "new_text", "content", "mode"]],
  ["a file", ["path", "content", "mode", "old_text"]],
  ["half an edit", ["path", "new_text", "mode"]],
  ["anything else", ["content", "mode"]],
])("shows every argument of %s", (_, names) => {
  const input = Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
  const { container } = render(<Proposed input={input} />);
  for (const value of Object.values(input)) expect(container.textContent).toContain(value);
});

it("hides nothing in what it shows", () => {
  const { container } = render(<Proposed input={{ command: "ls \u202etxt", "wor\u200bse": "\u2066x" }} />);
  expect(container.textContent).toContain("ls ⟨U+202E⟩txt");
  expect(container.textContent).toContain("wor⟨U+200B⟩se: ⟨U+2066⟩x");
});
