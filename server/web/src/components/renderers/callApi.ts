import { useQuery } from "@tanstack/react-query";
import { api, unwrap, type Schemas } from "@/lib/api/client";
import { ApiFault } from "@/lib/api/fault";

export type CallView = Schemas["CallView"];
/** CallRef names a call. */
export type CallRef = Pick<CallView, "id" | "chat_id" | "tool_id">;
export type App = Schemas["app"];
export type AppApproval = Schemas["appApproval"];

/** CallResult is what a tool gave, as the call's record has it. */
export interface CallResult {
  text?: string;
  data?: unknown;
}

/** useCall loads a tool call. While its turn runs there is no record of it, and it is asked for again. */
export function useCall(callId: string) {
  return useQuery({
    queryKey: ["call", callId],
    queryFn: async ({ signal }) => unwrap(await api.GET("/api/tool-calls/{call}", { params: { path: { call: callId } }, signal })),
    // A record is written once, at the end of the call.
    staleTime: Infinity,
    refetchInterval: (query) => (isMissing(query.state.error) && query.state.errorUpdateCount < 300 ? 2_000 : false),
  });
}

export function isMissing(error: unknown): boolean {
  return error instanceof ApiFault && error.status === 404;
}

/** ArtifactOf names what has a page of its own: a call, or a payload of a chat. */
export type ArtifactOf = { callId: string } | { chatId: string; payloadId: string };

/** useArtifact requests the page of a call or a payload, at an address that lasts some minutes. */
export function useArtifact(of: ArtifactOf) {
  return useQuery({
    queryKey: ["artifact", of],
    queryFn: async () =>
      "callId" in of
        ? unwrap(await api.POST("/api/tool-calls/{call}/artifact", { params: { path: { call: of.callId } } }))
        : unwrap(await api.POST("/api/chats/{chat}/payloads/{payload}/artifact", { params: { path: { chat: of.chatId, payload: of.payloadId } } })),
    // An address that has expired would show an error inside of the frame.
    staleTime: 4 * 60_000,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}

export type AppToolAnswer = Schemas["appTool"];

export async function callAppTool(call: string, body: Schemas["appTool_"]): Promise<AppToolAnswer> {
  return unwrap(await api.POST("/api/tool-calls/{call}/app/tools", { params: { path: { call } }, body }));
}

export async function readAppResource(call: string, uri: string): Promise<unknown> {
  return (await api.POST("/api/tool-calls/{call}/app/resources", { params: { path: { call } }, body: { uri } })).data;
}
