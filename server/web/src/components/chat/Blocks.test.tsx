import { act, render } from "@testing-library/react";
import { expect, it } from "vitest";
import { Blocks } from "./Blocks";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await act(() => new Promise((done) => setTimeout(done, 20)));
};

it("draws the end of a long text first, and then all of it", async () => {
  const text = Array.from({ length: 200 }, (_, i) => `Paragraph ${i}.`).join("\n\n");
  const { container } = render(<Blocks text={text} />);
  expect(container.textContent).toContain("Paragraph 199.");
  expect(container.textContent).not.toContain("Paragraph 0.");
  await frames(30);
  expect(container.textContent).toContain("Paragraph 0.");
  expect(container.querySelectorAll(".markdown").length).toBe(200);
});

it("draws only the last piece anew while a text grows", async () => {
  const { container, rerender } = render(<Blocks text={"One.\n\nTwo"} cursor />);
  await frames(5);
  const first = container.querySelector("p");
  rerender(<Blocks text={"One.\n\nTwo and more.\n\nThree"} cursor />);
  await frames(2);
  expect(container.querySelector("p")).toBe(first);
  expect(container.textContent).toContain("Three");
});

it("marks the last pieces alone as growing, so that their end styles nothing else anew", async () => {
  const text = Array.from({ length: 40 }, (_, i) => `Paragraph ${i}.`).join("\n\n");
  const { container } = render(<Blocks text={text} cursor />);
  await frames(10);
  const growing = container.querySelectorAll(".streaming");
  expect(growing.length).toBe(1);
  expect(growing[0]?.textContent).toContain("Paragraph 39.");
  expect(growing[0]?.textContent).not.toContain("Paragraph 0.");
});
