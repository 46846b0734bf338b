import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useChat } from "@/hooks/useGeneralChat";
import { request } from "@/lib/api/client";
import { workspacePayload } from "@/lib/workspace/payload";
import { fields } from "@/lib/workspace/read";
import type { GeneralChatMessage, ToolCall, WorkspacePayload } from "@/types/chat";

const most = 4;

function keyOf(call: ToolCall) {
  return ["call-payload", call.call_id];
}

/**
 * useLostPayload fills in what the list of messages doesn't carry: the workspace
 * payload of the last answer is kept from when its calls ran, or asked of them.
 */
export function useLostPayload(messages: GeneralChatMessage[]): GeneralChatMessage[] {
  const client = useQueryClient();
  const running = useChat((s) => s.turn?.tools);
  useEffect(() => {
    for (const call of running ?? []) {
      if (call?.call_id && call.workspace_payload) client.setQueryData(keyOf(call), call.workspace_payload);
    }
  }, [client, running]);

  const at = messages.findLastIndex((m) => m.role === "assistant");
  const answer = messages[at];
  const tools = useCallPayloads(answer && !answer.workspace_payload ? answer.tool_history : none);
  if (!answer || tools === answer.tool_history || tools === none) return messages;
  return messages.map((m, i) => (i === at ? { ...answer, tool_history: tools } : m));
}

const none: ToolCall[] = [];

/** useCallPayloads are an answer's calls with their workspace payloads; the very same ones where there is nothing to fill in. */
export function useCallPayloads(tools: ToolCall[], done = true): ToolCall[] {
  // Of a turn that runs the calls aren't recorded yet, and told whole.
  const calls = !done || tools.some((c) => c?.workspace_payload)
    ? none
    : // A builtin, which has no toolset before its name, gives none.
      tools.filter((c) => c?.call_id && c.status !== "error" && (c.tool_id?.includes(":") ?? true)).slice(-most);
  const found = useQueries({
    queries: calls.map((c) => ({
      queryKey: keyOf(c),
      staleTime: Infinity, // a call that has ended stays as it is
      retry: false,
      queryFn: async (): Promise<WorkspacePayload | null> => {
        const body: unknown = await (await request(`/api/tool-calls/${encodeURIComponent(c.call_id ?? "")}`)).json();
        return workspacePayload(fields(fields(body).result).workspace_payload);
      },
    })),
    combine: (results) => results.map((r) => r.data ?? null),
  });
  if (!found.some(Boolean)) return tools;
  const byCall = new Map(calls.map((c, i) => [c.call_id, found[i] ?? undefined]));
  return tools.map((c) => c && { ...c, workspace_payload: byCall.get(c.call_id) ?? c.workspace_payload });
}
