import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { ChatProvider, useChat } from "@/hooks/useGeneralChat";
import { messagesOf } from "@/lib/history";
import { turns } from "@/lib/testdata/turns";
import { useUI } from "@/lib/ui";
import { UserMessage } from "./UserMessage";

const { messages } = turns.build as unknown as { messages: { chat: { id: string }; messages: Parameters<typeof messagesOf>[0] } };
const [question] = messagesOf(messages.messages);

/** First draws the first message only where it is shown, as the list does. */
function First() {
  const first = useChat((s) => s.messages[0]);
  return first && !first.pending ? <UserMessage message={first} /> : null;
}

const show = () =>
  render(
    <QueryClientProvider client={new QueryClient()}>
      <ChatProvider>
        <First />
      </ChatProvider>
    </QueryClientProvider>,
  );

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

it("keeps an edited question until the server has taken it, scrolled away or refused", async () => {
  let refuse = () => {};
  const answer = new Promise<Response>((resolve) => {
    refuse = () => resolve(new Response(JSON.stringify({ error: { code: "busy", message: "another turn runs" } }), { status: 409 }));
  });
  vi.stubGlobal("fetch", async (url: string) => (url.includes("/edit") ? answer : new Response(JSON.stringify(messages))));
  useUI.setState({ chat: messages.chat.id });
  show();
  await waitFor(() => expect(screen.getByRole("button", { name: "Edit" })).toHaveProperty("disabled", false));
  fireEvent.click(screen.getByRole("button", { name: "Edit" }));
  expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Question" }));
  fireEvent.change(screen.getByRole("textbox", { name: "Question" }), { target: { value: "in other words" } });
  cleanup();
  show();
  expect(await screen.findByRole("textbox", { name: "Question" })).toHaveProperty("value", "in other words");
  expect(document.activeElement).toBe(document.body);
  fireEvent.click(screen.getByRole("button", { name: "Ask again" }));
  await waitFor(() => expect(screen.queryByRole("textbox", { name: "Question" })).toBeNull());
  refuse();
  expect(await screen.findByRole("textbox", { name: "Question" })).toHaveProperty("value", "in other words");
  expect(question?.content).not.toBe("in other words");
});
