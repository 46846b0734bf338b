import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cachedMessages, draftOf } from "@/lib/storage";
import { turns, type Recorded } from "@/lib/testdata/turns";
import { textOf } from "@/lib/turn";
import { useReturned } from "./choices";
import { createChatStore } from "./store";

// A server of recorded turns: what it was asked is kept, and what it answers can
// be changed.
const { events, messages } = turns.build as Recorded & { messages: { chat: { id: string } } };
const chatId = messages.chat.id;
const turnId = events[0]?.turn_id ?? "";
const asked: { what: string; after: string | null; body: unknown }[] = [];
let answers: Record<string, () => Response | Promise<Response>>;
let query = ""; // of what was asked last

const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });
const stream = (list: unknown[]) => new Response(list.map((e) => `data: ${JSON.stringify(e)}\n\n`).join(""));
const started = () => json({ turn_id: turnId, chat_id: chatId, conversation_id: 1, events: "" }, 202);
const lastAsk = (what: string) => asked.findLast((a) => a.what === what);

beforeEach(() => {
  asked.length = 0;
  localStorage.clear();
  answers = {
    "POST /api/turns": started,
    [`GET /api/chats/${chatId}/messages`]: () => json(messages),
    [`GET /api/turns/${turnId}/events`]: () => stream(events),
    [`GET /api/turns/${turnId}/approvals`]: () => json({ approvals: [{ tool_use_id: "call_1_0", nonce: "N1", expires_at: "2026-11-28T17:00:00Z" }] }),
  };
  vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
    const what = `${init.method ?? "GET"} ${url.replace(/\?.*/, "")}`;
    query = url.slice(url.indexOf("?") + 1);
    const text = init.body instanceof Blob ? await init.body.text() : "";
    asked.push({ what, after: new Headers(init.headers).get("Last-Event-ID"), body: text ? JSON.parse(text) : null });
    return answers[what]?.() ?? json({ error: { code: "not_found", message: "there is nothing at this address" } }, 404);
  });
});
afterEach(() => vi.unstubAllGlobals());

const make = (onStarted = vi.fn()) => createChatStore(new QueryClient(), onStarted);

describe("a chat", () => {
  it("is made by its first question, and has the server's messages at the end", async () => {
    const opened = vi.fn();
    const store = make(opened);
    const sending = store.getState().send("build it");
    expect(store.getState().messages.map((m) => m.content)).toEqual(["build it"]);
    expect(await sending).toBe(true);
    expect(opened).toHaveBeenCalledWith(chatId);
    expect(lastAsk("POST /api/turns")?.body).toMatchObject({ message: "build it", confirm: true });
    await vi.waitFor(() => expect(store.getState().turn).toBeNull());
    await vi.waitFor(() => expect(store.getState().messages.map((m) => m.id)).toEqual(messages.messages.map((m) => m.id)));
    expect(store.getState().messages[1]?.tool_history[1]).toMatchObject({ tool_name: "write_file", tool_use_id: "call_0_1" });
    expect(query).toContain("tool_history=false");
  });

  it("has the question of an answer that another browser asked for", async () => {
    const question = { ...(messages as { messages: { role: string }[] }).messages[0], id: "01QUESTION", turn_id: turnId };
    answers[`GET /api/chats/${chatId}/messages`] = () => json({ ...messages, messages: [], calls: [], siblings: {}, total: 0, turn_id: turnId, question });
    answers[`GET /api/turns/${turnId}/events`] = () => new Response(new ReadableStream()); // it goes on
    const store = make();
    void store.getState().open(chatId);
    await vi.waitFor(() => expect(store.getState().turn?.turnId).toBe(turnId));
    expect(store.getState().messages).toMatchObject([{ id: "01QUESTION", role: "user", pending: true, turn_id: turnId }]);
    store.getState().close();
  });

  it("pages through the way to a running answer, which need not be the active branch", async () => {
    const list = (messages as { messages: { id: string }[] }).messages;
    const beside = { ...messages, messages: list.slice(0, 1), before: "older", turn_id: turnId, turn_parent_id: "fork" };
    answers[`GET /api/chats/${chatId}/messages`] = () => json(beside);
    answers[`GET /api/turns/${turnId}/events`] = () => new Response(new ReadableStream());
    const store = make();
    void store.getState().open(chatId);
    await vi.waitFor(() => expect(store.getState().turn?.turnId).toBe(turnId));
    await store.getState().loadOlder();
    expect(Object.fromEntries(new URLSearchParams(query))).toMatchObject({ before: "older", leaf: "fork" });
    store.getState().close();
  });

  it("sends what a suggestion brings along, and shows it with the question", async () => {
    const store = make();
    const sending = store.getState().send("what is odd?", "text_input", undefined, { uploads: [{ name: "orders.csv", text: "order,date" }] });
    expect(store.getState().messages[0]?.attachments).toMatchObject([{ name: "orders.csv", size: 10 }]);
    expect(await sending).toBe(true);
    expect(lastAsk("POST /api/turns")?.body).toMatchObject({ message: "what is odd?", uploads: [{ name: "orders.csv", text: "order,date" }] });
    store.getState().close();
  });

  it("takes up a lost stream after the last event, and shows nothing twice", async () => {
    const cut = Math.floor(events.length / 2);
    let times = 0;
    answers[`GET /api/turns/${turnId}/events`] = () => stream(times++ === 0 ? events.slice(0, cut) : events.slice(cut - 5));
    const store = make();
    const seen: string[] = [];
    store.subscribe((s) => s.turn && seen.push(textOf(s.turn)));
    await store.getState().send("build it");
    await vi.waitFor(() => expect(lastAsk(`GET /api/chats/${chatId}/messages`)).toBeDefined(), 3_000);
    expect(lastAsk(`GET /api/turns/${turnId}/events`)?.after).toBe(String(events[cut - 1]?.seq));
    const end = events.at(-1);
    expect(seen.at(-1)).toBe(end?.type === "complete" ? end.payload.message : "");
  });

  it("follows the turn that runs when it is opened again, with its question", async () => {
    const running = events.slice(0, 30);
    const busy = () => json({ error: { code: "busy", message: "chat 1 has no answer yet" } }, 409);
    answers[`GET /api/turns/${turnId}/events`] = () => stream(running);
    answers[`GET /api/chats/${chatId}/messages`] = busy;
    answers[`GET /api/chats/${chatId}/events`] = () => stream(running.slice(0, 1));
    const first = make();
    await first.getState().send("build it");
    expect(cachedMessages(chatId).map((m) => m.content)).toEqual(["build it"]);
    first.getState().close();
    const again = make();
    void again.getState().open(chatId);
    await vi.waitFor(() => expect(again.getState().turn?.tools.length).toBe(2));
    expect(again.getState().messages.map((m) => [m.role, m.content])).toEqual([["user", "build it"]]);
    again.getState().close();
  });

  it("shows an approval with the nonce that an answer needs", async () => {
    const waits = events.slice(0, events.findIndex((e) => e.type === "confirm_request") + 1);
    answers[`GET /api/turns/${turnId}/events`] = () => stream(waits);
    answers[`POST /api/turns/${turnId}/confirm`] = () => new Response(null, { status: 204 });
    const store = make();
    await store.getState().send("build it");
    await vi.waitFor(() => expect(store.getState().turn?.approvals[0]?.nonce).toBe("N1"));
    const [approval] = store.getState().turn?.approvals ?? [];
    if (!approval) throw new Error("no approval");
    await store.getState().confirm(approval, "deny", "not now");
    expect(lastAsk(`POST /api/turns/${turnId}/confirm`)?.body).toEqual({ tool_use_id: "call_1_0", nonce: "N1", decision: "deny", reason: "not now" });
    expect(store.getState().turn?.approvals).toEqual([]);
    store.getState().close();
  });

  it("gives a question back that is refused, and says why", async () => {
    answers["POST /api/turns"] = () => json({ error: { code: "no_model", message: "no model to ask", hints: ["list the models: GET /api/models"], remedies: [{ kind: "list_models", text: "list the models" }, { kind: "command", text: "fettle models list" }] } }, 503);
    const store = make();
    expect(await store.getState().send("hello")).toBe(false);
    expect(store.getState()).toMatchObject({ messages: [], starting: false, fault: { message: "no model to ask", hints: ["list the models"], retryable: true } });
  });

  it("is locked where the token is refused", async () => {
    answers[`GET /api/chats/${chatId}/messages`] = () => json({ error: { code: "unauthorised", message: "the token is wrong" } }, 401);
    const store = make();
    await store.getState().open(chatId);
    expect(store.getState().locked).toBe(true);
  });

  it("keeps a question that is refused after another chat was opened, as its chat's draft", async () => {
    const refused = gate<Response>();
    answers["POST /api/turns"] = () => refused.promise;
    const store = make();
    await store.getState().open(chatId);
    const sending = store.getState().send("long thought of");
    void store.getState().open(null);
    refused.open(json({ error: { code: "no_model", message: "no model to ask" } }, 503));
    expect(await sending).toBe(false);
    expect(draftOf(chatId)).toBe("long thought of");
    expect(useReturned.getState()).toMatchObject({ chatId, text: "long thought of" });
  });

  it("keeps a question that finds the token refused", async () => {
    answers["POST /api/turns"] = () => json({ error: { code: "unauthorised", message: "the token is wrong" } }, 401);
    const store = make();
    expect(await store.getState().send("hello")).toBe(false);
    expect(store.getState().locked).toBe(true);
    expect(draftOf(null)).toBe("hello");
  });

  it("shows a question that is sent while the last answer's messages are still on their way", async () => {
    const late = gate<Response>();
    answers[`GET /api/chats/${chatId}/messages`] = () => late.promise;
    const store = make();
    await store.getState().send("build it");
    await vi.waitFor(() => expect(lastAsk(`GET /api/chats/${chatId}/messages`)).toBeDefined());
    answers["POST /api/turns"] = () => new Promise(() => {});
    void store.getState().send("and now?");
    late.open(json(messages));
    await vi.waitFor(() => expect(store.getState().chat?.title).toBe((messages.chat as { title?: string }).title));
    expect(store.getState().messages.at(-1)).toMatchObject({ content: "and now?", pending: true });
    store.getState().close();
  });

  it("stops only the turn that it was told to stop", async () => {
    const first = gate<Response>();
    answers["POST /api/turns"] = () => first.promise;
    answers[`POST /api/turns/${turnId}/cancel`] = () => new Response(null, { status: 204 });
    const store = make();
    const sending = store.getState().send("one");
    store.getState().cancel();
    await store.getState().open(chatId);
    answers["POST /api/turns"] = () => new Promise(() => {});
    void store.getState().send("two");
    first.open(started());
    await sending;
    await vi.waitFor(() => expect(lastAsk(`POST /api/turns/${turnId}/cancel`)).toBeDefined());
    store.getState().close();
  });

  it("shows the way to the answer that is being made, where that isn't the active branch", async () => {
    const [question] = messages.messages;
    const running = { ...messages, turn_id: turnId, turn_parent_id: question?.id };
    const ways: string[] = [];
    answers[`GET /api/chats/${chatId}/messages`] = () => {
      ways.push(new URLSearchParams(query).get("leaf") ?? "");
      return json(query.includes("leaf=") ? { ...running, messages: [question] } : running);
    };
    answers[`GET /api/turns/${turnId}/events`] = () => stream(events.slice(0, 30));
    const store = make();
    void store.getState().open(chatId);
    await vi.waitFor(() => expect(store.getState().turn?.turnId).toBe(turnId));
    expect(ways).toEqual(["", question?.id]);
    expect(store.getState().messages.map((m) => m.id)).toEqual([question?.id]);
    store.getState().close();
  });

  it("shows nothing before a first question that is being edited", async () => {
    answers[`GET /api/chats/${chatId}/messages`] = () => json({ ...messages, turn_id: turnId });
    answers[`GET /api/turns/${turnId}/events`] = () => stream(events.slice(0, 30));
    const store = make();
    void store.getState().open(chatId);
    await vi.waitFor(() => expect(store.getState().turn?.turnId).toBe(turnId));
    expect(store.getState().messages).toEqual([]);
    store.getState().close();
  });

  it("asks again for what an approval needs, and says so meanwhile", async () => {
    const waits = events.slice(0, events.findIndex((e) => e.type === "confirm_request") + 1);
    answers[`GET /api/turns/${turnId}/events`] = () => stream(waits);
    const path = `GET /api/turns/${turnId}/approvals`;
    const good = answers[path] ?? started;
    let times = 0;
    answers[path] = () => (times++ === 0 ? json({ error: { code: "failed", message: "try later" } }, 500) : good());
    const store = make();
    const said: boolean[] = [];
    store.subscribe((s) => said.push(s.unanswerable));
    await store.getState().send("build it");
    await vi.waitFor(() => expect(store.getState().turn?.approvals[0]?.nonce).toBe("N1"), 3_000);
    expect(said).toContain(true);
    await vi.waitFor(() => expect(store.getState().unanswerable).toBe(false));
    store.getState().close();
  });
});

function gate<T>() {
  let open: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => (open = resolve));
  return { promise, open: (value: T) => open(value) };
}
