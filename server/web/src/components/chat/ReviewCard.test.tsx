import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ChatProvider } from "@/hooks/useGeneralChat";
import type { ApprovalReview } from "@/types/chat";
import { Approvals } from "./ApprovalCard";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const files: ApprovalReview["files"] = [
  { path: "d/old", kind: "removed", group: "d/old", removed: 1, diff: "@@ -1,1 +0,0 @@\n-was\n" },
  { path: "d/new", kind: "added", group: "d/old" },
  { path: "a.png", kind: "modified", note: "3 bytes, before 1 byte, not a text" },
];

async function card(review: Partial<ApprovalReview>) {
  const { container } = render(
    <QueryClientProvider client={new QueryClient()}>
      <ChatProvider>
        <Approvals approvals={[{ turn_id: "t", tool_use_id: "u", tool: "run_command", tool_id: "run_command", input: { command: "make" }, reason: "it has run", nonce: "n", review: { files, ...review } }]} />
      </ChatProvider>
    </QueryClientProvider>,
  );
  await act(async () => {
    await import("./ReviewCard"); // which the card loads with its first use
    await vi.advanceTimersByTimeAsync(0);
  });
  act(() => vi.advanceTimersByTime(1000));
  return container;
}

const box = (path: string) => screen.getByRole<HTMLInputElement>("checkbox", { name: `Apply ${path}` });

it("lists changes, conflicts, and how many are not listed", async () => {
  const text = (await card({ more: 4, conflicts: [{ path: "c.txt", kind: "edit/edit" }], output: "printed" })).textContent;
  for (const part of ["to 7 files", "-was", "not a text", "c.txt", "4 more are not listed", "printed"]) expect(text).toContain(part);
});

it("chooses the files of a group together", async () => {
  await card({});
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Apply" }).disabled).toBe(false);
  fireEvent.click(box("d/new"));
  expect([box("d/old").checked, box("d/new").checked, box("a.png").checked]).toEqual([false, false, true]);
  screen.getByRole("button", { name: "Apply 1 of 3" });
  fireEvent.click(box("a.png"));
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Apply 0 of 3" }).disabled).toBe(true);
  fireEvent.click(box("d/old"));
  expect(box("d/new").checked).toBe(true);
});
