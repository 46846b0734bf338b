import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ChatProvider } from "@/hooks/useGeneralChat";
import { Approvals } from "./ApprovalCard";
import { Proposed } from "./Proposed";
import type { ApprovalArgument } from "@/types/chat";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const arg = (name: string, text: string, size = "9 bytes"): ApprovalArgument => ({ name, text, size });
const all = [arg("mode", "0755"), arg("path", "notes.md"), arg("content", "the content"), arg("command", "make all"), arg("old_text", "what was"), arg("new_text", "what comes")];

it.each([
  ["a command", ["mode", "path", "content", "command", "old_text", "new_text"]],
  ["an edit", ["path", "old_text", "new_text", "content", "mode"]],
  ["a file", ["path", "content", "mode", "old_text"]],
  ["half an edit", ["path", "new_text", "mode"]],
  ["anything else", ["content", "mode"]],
])("shows every argument of %s", (_, names) => {
  const args = all.filter((a) => names.includes(a.name));
  const { container } = render(<Proposed args={args} whole={false} onWhole={() => undefined} />);
  for (const a of args) expect(container.textContent).toContain(a.text);
});

it("shows both of two arguments of one name", () => {
  const { container } = render(<Proposed args={[arg("command", "ls"), arg("command", "rm")]} whole={false} onWhole={() => undefined} />);
  expect(container.textContent).toContain("ls");
  expect(container.textContent).toContain("rm");
});

function card(args: ApprovalArgument[] | undefined) {
  const nonce = args && { nonce: "n" };
  const { container } = render(
    <QueryClientProvider client={new QueryClient()}>
      <ChatProvider>
        <Approvals
          approvals={[
            {
              turn_id: "t", tool_use_id: "u", tool: "run_command", tool_id: "run_command", input: {}, arguments: args,
              reason: "it can change", reach: "read and write the chat's workspace only", rule: "run_command(x*)", rule_text: "run_command(x[90 blanks]*)", ...nonce,
            },
          ]}
        />
      </ChatProvider>
    </QueryClientProvider>,
  );
  act(() => vi.advanceTimersByTime(1000));
  return container;
}

const allow = () => screen.getByRole<HTMLButtonElement>("button", { name: "Allow once" });
const more = () => screen.getByRole<HTMLButtonElement>("button", { name: "More" });
const deny = () => screen.getByRole<HTMLButtonElement>("button", { name: "Deny" });

it("allows a call that is shown whole", () => {
  const container = card([arg("command", "ls[120 blanks]; rm -rf ~")]);
  expect(container.textContent).toContain("ls[120 blanks]; rm -rf ~");
  expect(container.textContent).toContain("run_command(x[90 blanks]*)");
  expect(container.textContent).toContain("It may read and write the chat's workspace only.");
  expect(allow().disabled).toBe(false);
  expect(more().disabled).toBe(false);
});

it("allows nothing before the arguments have come", () => {
  card(undefined);
  expect(allow().disabled).toBe(true);
});

it.each([
  ["many lines", Array.from({ length: 60 }, (_, i) => `line ${i}`).join("\n"), "line 59"],
  ["a long line", `${"x".repeat(5000)}the end`, "the end"],
])("allows %s only after all of it was shown", (_, text, end) => {
  const container = card([arg("path", "a.txt"), arg("content", text, "5.0 KB")]);
  expect(container.textContent).not.toContain(end);
  expect(container.textContent).toContain("the beginning of 5.0 KB");
  expect(allow().disabled).toBe(true);
  expect(more().disabled).toBe(true);
  expect(deny().disabled).toBe(false);
  fireEvent.click(screen.getByRole("button", { name: "Show all of it" }));
  expect(container.textContent).toContain(end);
  expect(allow().disabled).toBe(false);
  expect(more().disabled).toBe(false);
});
