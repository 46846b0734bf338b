import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import ChatPanel from "@/components/panels/ChatPanel";
import { ChatProvider } from "@/hooks/useGeneralChat";
import { keep } from "@/lib/api/token";
import { useComposer } from "@/lib/chat/choices";
import { keepDraft, remember } from "@/lib/storage";
import { turns } from "@/lib/testdata/turns";
import { messagesOf } from "@/lib/history";
import { useUI } from "@/lib/ui";

const chat = (turns.build.messages as unknown as { chat: { id: string } }).chat;
let fetched: (what: string) => Response;
const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });
const listed = (what: string) => (/^.api.chats(\?|$)/.test(what) ? json({ chats: [] }) : json({ error: { code: "not_found", message: "nothing is here" } }, 404));

beforeEach(() => {
  localStorage.clear();
  keep("a-token");
  fetched = (what) => (what.includes("/messages") ? json(turns.build.messages) : listed(what));
  vi.stubGlobal("fetch", async (url: string) => fetched(url));
  useUI.setState({ chat: null });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const show = () =>
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <ChatProvider>
        <ChatPanel />
      </ChatProvider>
    </QueryClientProvider>,
  );
const field = () => screen.getByRole("textbox", { name: "Message" });

describe("the field", () => {
  it("hands the focus to that of the chat which comes", async () => {
    keepDraft(chat.id, "a draft");
    show();
    const first = field();
    first.focus();
    act(() => useUI.getState().openChat(chat.id));
    await waitFor(() => expect(field()).not.toBe(first));
    expect(document.activeElement).toBe(field());
    await waitFor(() => expect(field()).toHaveProperty("value", "a draft"));
  });

  it("takes the focus in a new chat that is begun from elsewhere", async () => {
    useUI.setState({ chat: chat.id });
    show();
    const first = field();
    act(() => {
      useUI.getState().openChat(null);
      useComposer.getState().put(null);
    });
    await waitFor(() => expect(field()).not.toBe(first));
    expect(document.activeElement).toBe(field());
  });

  it("has its files when the chat is looked at again", async () => {
    const gone = vi.spyOn(URL, "revokeObjectURL");
    show();
    fireEvent.paste(field(), { clipboardData: { files: [new File(["x"], "picture.png", { type: "image/png" })] } });
    await screen.findByText("picture.png");
    const first = field();
    act(() => useUI.getState().openChat(chat.id));
    await waitFor(() => expect(field()).not.toBe(first));
    expect(screen.queryByText("picture.png")).toBeNull();
    act(() => useUI.getState().openChat(null));
    fireEvent.click(await screen.findByRole("button", { name: "Remove picture.png" }));
    expect(screen.queryByText("picture.png")).toBeNull();
    expect(gone).toHaveBeenCalledTimes(1);
  });
});

it("says that a chat can't be loaded, above what was seen of it", async () => {
  remember({ id: chat.id, createdAt: "2026-11-28T10:00:00Z", preview: "build" }, messagesOf(turns.build.messages.messages));
  fetched = (what) => (what.includes("/messages") ? json({ error: { code: "failed", message: "the disk is broken" } }, 500) : listed(what));
  useUI.setState({ chat: chat.id });
  show();
  expect(await screen.findByText(/what was seen of it last/)).toBeTruthy();
  expect(screen.getByText("the disk is broken")).toBeTruthy();
});
