import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { AppDialogs, type AppQuestion } from "./AppDialogs";
import type { App } from "./callApi";

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const app = { tool: { name: "chart" } } as App;
const link = (url: string, done = vi.fn()): AppQuestion & { done: typeof done } => ({ kind: "link", url, done });
const draw = (question: AppQuestion) => <AppDialogs app={app} question={question} />;

it("takes a yes only a moment after each question has appeared", () => {
  const first = link("https://a.test/");
  const second = link("https://b.test/");
  const { rerender } = render(draw(first));
  const yes = () => screen.getByRole("button", { name: "Open it in a tab" });
  fireEvent.click(yes());
  expect(first.done).not.toHaveBeenCalled();
  act(() => void vi.advanceTimersByTime(700));
  rerender(draw(second));
  fireEvent.click(yes());
  expect(second.done).not.toHaveBeenCalled();
  act(() => void vi.advanceTimersByTime(700));
  fireEvent.click(yes());
  expect(second.done).toHaveBeenCalledWith(true);
});
