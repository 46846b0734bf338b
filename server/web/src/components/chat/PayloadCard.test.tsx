import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { WorkspacePayload } from "@/types/chat";
import { PayloadCard } from "./PayloadCard";

const post = vi.hoisted(() => vi.fn());
let turn: object | null = null;
vi.mock("@/hooks/useGeneralChat", () => ({
  useChat: (select: (chat: unknown) => unknown) => select({ chatId: "c", messages: [], turn, follow: vi.fn() }),
}));
vi.mock("@/lib/api/client", async (real) => ({ ...(await real<object>()), api: { POST: post, GET: vi.fn() } }));

beforeEach(() => {
  turn = null;
  post.mockReset().mockResolvedValue({ data: { payload: {} } });
});
afterEach(cleanup);

const proposal: WorkspacePayload = { type: "schema_proposal", title: "", content: "", data: { proposed_changes: { stream_name: "Naps" } } };
const agent: WorkspacePayload = { type: "agent_create", title: "New agent", content: "", data: { name: "Night editor" } };

function card(payload: WorkspacePayload, decision?: object, payloadId: string | null = "p") {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(["payloads", "c"], [{ id: "p", decision }]);
  client.setQueryData(["payload-types"], { types: [], pages: [] });
  return render(
    <QueryClientProvider client={client}>
      <PayloadCard payload={payload} payloadId={payloadId ?? undefined} chatId="c" />
    </QueryClientProvider>,
  );
}

const button = (name: string) => screen.queryByRole<HTMLButtonElement>("button", { name });

test.each([
  ["a model’s proposal", proposal, "Accept", "accept"],
  ["a tool’s proposal", agent, "Reject", "reject"],
])("the card of %s takes the decision", async (_, payload, name, verdict) => {
  card(payload);
  fireEvent.click(button(name) as HTMLButtonElement);
  await vi.waitFor(() => expect(post).toHaveBeenCalledOnce());
  expect(post.mock.calls[0]).toEqual([`/api/chats/{chat}/payloads/{payload}/${verdict}`, { params: { path: { chat: "c", payload: "p" } }, body: { confirm: true } }]);
});

test.each([
  ["accepted", "Accepted"],
  ["rejected", "Rejected"],
])("a card that was %s shows it, and asks no more", (decision, says) => {
  card(proposal, { decision, decided_at: new Date(Date.now() - 180_000).toISOString(), remark: "as agreed" });
  expect(screen.getByRole("status").textContent).toMatch(new RegExp(`^${says}3 minutes ago.*as agreed`));
  expect(button("Accept")).toBeNull();
  expect(button("Reject")).toBeNull();
});

test("a decision waits for the end of the answer", () => {
  turn = {};
  card(proposal);
  expect(button("Accept")?.disabled).toBe(true);
  expect(button("Reject")?.disabled).toBe(true);
});

test("a card of what needs no decision has no buttons for one", () => {
  card({ ...agent, type: "draft" });
  expect(button("Accept")).toBeNull();
  cleanup();
  card(agent, undefined, null); // a payload that the server does not list
  expect(button("Accept")).toBeNull();
});
