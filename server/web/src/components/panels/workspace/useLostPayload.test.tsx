import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, it, vi } from "vitest";
import type { ToolCall } from "@/types/chat";
import { useCallPayloads } from "./useLostPayload";

const fetched = vi.fn((path: string) =>
  Promise.resolve(Response.json({ result: { text: "", ...(path.endsWith("/c1") ? { workspace_payload: { type: "draft", title: "Letter", content: "Dear" } } : {}) } })),
);

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  fetched.mockClear();
});

const call = (id: string, more: Partial<ToolCall> = {}): ToolCall => ({ tool_name: "t", tool_id: "set:t", input: {}, output: "", status: "success", call_id: id, ...more });

function draw(tools: ToolCall[], done: boolean) {
  vi.stubGlobal("fetch", fetched);
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>;
  return renderHook(() => useCallPayloads(tools, done), { wrapper }).result;
}

it("asks an ended answer's calls for what the list of messages lacks", async () => {
  const result = draw([call("c1"), call("c2"), call("c3", { tool_id: "read_file" }), call("c4", { status: "error" })], true);
  await waitFor(() => expect(result.current[0]?.workspace_payload).toEqual({ type: "draft", title: "Letter", content: "Dear" }));
  expect(fetched.mock.calls.map(([path]) => path)).toEqual(["/api/tool-calls/c1", "/api/tool-calls/c2"]);
});

it("asks nothing while the turn runs, or where it is known", () => {
  const known = [call("c1", { workspace_payload: { type: "draft", title: "", content: "" } }), call("c2")];
  expect(draw(known, true).current).toBe(known);
  const running = [call("c1")];
  expect(draw(running, false).current).toBe(running);
  expect(fetched).not.toHaveBeenCalled();
});
