import { api, request, unwrap } from "@/lib/api/client";
import { freshFields } from "@/lib/chat/chatMode";
import { chatToolsOf, moveTools } from "@/lib/chat/chatTools";
import type { Params } from "@/lib/chat/choices";
import type { StartedTurn, TurnRequest } from "@/lib/api/generalChatApi";
import { frames } from "@/lib/api/sse";
import { messagesOf } from "@/lib/history";
import type { Approval } from "@/types/chat";
import type { Decision, SendOptions } from "./state";

// What the page can be asked while a turn runs.
const answers = { confirm: true, forms: true, reviews: true };

/** pageOfMessages is a page of a chat, the last one where before is null. */
export async function pageOfMessages(chat: string, o: { limit: number; before?: string; leaf?: string; signal?: AbortSignal }) {
  const page = unwrap(
    await api.GET("/api/chats/{chat}/messages", {
      params: { path: { chat }, query: { limit: o.limit, tool_history: false, ...(o.before ? { before: o.before } : {}), ...(o.leaf ? { leaf: o.leaf } : {}) } },
      signal: o.signal,
    }),
  );
  return { ...page, messages: messagesOf(page.messages, page.calls, page.siblings), asked: page.question ? messagesOf([page.question]) : [] };
}

/** ShownPage is a page, and the end of its way where that isn't the active branch. */
type ShownPage = Awaited<ReturnType<typeof pageOfMessages>> & { leaf?: string };

/**
 * lastPage is the last page of what is read in a chat: of the active branch, or, while
 * a turn runs beside it, of the way to where that turn's answer will stand.
 */
export async function lastPage(chat: string, o: { limit: number; signal: AbortSignal }): Promise<ShownPage> {
  const page = await pageOfMessages(chat, o);
  if (!page.turn_id || (page.turn_parent_id ?? "") === (page.messages.at(-1)?.id ?? "")) return page;
  if (!page.turn_parent_id) return { ...page, messages: [], before: undefined };
  const way = await pageOfMessages(chat, { ...o, leaf: page.turn_parent_id });
  return { ...way, turn_id: page.turn_id, asked: page.asked, leaf: page.turn_parent_id };
}

/** runningTurn is the turn that runs in a chat, from the first frame of the chat's stream. */
export async function runningTurn(chat: string, signal: AbortSignal): Promise<string | null> {
  const response = await request(`/api/chats/${encodeURIComponent(chat)}/events`, { headers: { Accept: "text/event-stream" }, signal });
  if (response.status === 204 || !response.body) return null;
  for await (const frame of frames(response.body)) return (JSON.parse(frame.data) as { turn_id?: string }).turn_id ?? null;
  return null;
}

export function choices(extra: SendOptions): Pick<TurnRequest, "model" | "agent" | "tools" | keyof Params> {
  return {
    ...(extra.model ? { model: extra.model } : {}),
    ...(extra.agent ? { agent: extra.agent } : {}),
    ...(extra.tools ? { tools: extra.tools } : {}),
    ...extra.params,
  };
}

/** begin asks something. The turn goes on in the server whatever becomes of the page. */
export async function begin(body: TurnRequest): Promise<StartedTurn> {
  const started = unwrap(await api.POST("/api/turns", { body: { ...answers, ...chatToolsOf(body.chat_id), ...(body.chat_id ? {} : freshFields()), ...body } }));
  if (!body.chat_id) moveTools(started.chat_id);
  return started;
}

/** again asks a question anew, with other words where there are some. */
export async function again(chat: string, body: { message_id: string; message?: string }): Promise<StartedTurn> {
  const params = { path: { chat } };
  const chosen = { ...answers, ...chatToolsOf(chat), ...body };
  return unwrap(
    body.message === undefined
      ? await api.POST("/api/chats/{chat}/retry", { params, body: chosen })
      : await api.POST("/api/chats/{chat}/edit", { params, body: chosen }),
  );
}

export async function waiting(turn: string): Promise<Partial<Approval>[]> {
  return unwrap(await api.GET("/api/turns/{turn}/approvals", { params: { path: { turn } } })).approvals as Partial<Approval>[];
}

/** answer answers an approval with the nonce that it was shown with. */
export async function answer(approval: Approval, decision: Decision, reason?: string, content?: Record<string, unknown>, only?: string[]) {
  const body = {
    tool_use_id: approval.tool_use_id, nonce: approval.nonce ?? "", decision,
    ...(reason ? { reason } : {}), ...(content ? { content } : {}), ...(only ? { only } : approval.review && decision === "allow" ? { all: true } : {}),
  };
  await api.POST("/api/turns/{turn}/confirm", { params: { path: { turn: approval.turn_id } }, body });
}
