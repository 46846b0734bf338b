// The state of the chat that is shown. It knows nothing of components: the hook
// binds it to the address and to React.
import type { QueryClient } from "@tanstack/react-query";
import { createStore } from "zustand";
import { tell, tellFault } from "@/components/ui/Toasts";
import { api, type Chat, type TurnEvent } from "@/lib/api/client";
import { ApiFault } from "@/lib/api/fault";
import { cancelTurn, type StartedTurn } from "@/lib/api/generalChatApi";
import { attachmentsOf, filesOf, revoke } from "@/lib/files";
import { messageOfTurn } from "@/lib/history";
import { cachedMessages, isQuestion, questionOf, remember } from "@/lib/storage";
import { newTurn, reduce } from "@/lib/turn";
import type { Attachment, GeneralChatMessage } from "@/types/chat";
import { again, answer, begin, choices, lastPage, pageOfMessages, runningTurn, waiting } from "./api";
import { freshFields, useFreshMode } from "./chatMode";
import { giveBack } from "./choices";
import { faultOf, isLocked } from "./fault";
import { follow } from "./follow";
import { empty, type ChatActions, type ChatState } from "./state";

const pageSize = 40;
const maxPage = 1000; // the server's
const nonceWaits = [250, 1_000, 2_000, 5_000];

export type ChatStore = ReturnType<typeof createChatStore>;

/** createChatStore makes the state; onStarted hears of a turn in a chat that was made for it. */
export function createChatStore(client: QueryClient, onStarted: (chatId: string) => void) {
  const store = createStore<ChatState & ChatActions>()((set, get) => {
    let opened = new AbortController(); // all that belongs to the chat that is shown
    let beginning = { cancelled: false }; // the turn that was asked for last
    let rounds = 0; // turns that were asked for: what was fetched before one is older than what is shown
    let missed = false; // such an answer was dropped
    let asking = ""; // the turn whose approvals are asked for
    let wake = () => {};

    function changed(chatId: string, ...what: string[]) {
      for (const key of what) void client.invalidateQueries({ queryKey: [key, chatId] });
      void client.invalidateQueries({ queryKey: ["chats"] });
    }

    function save(running?: string) {
      const { chat, messages } = get();
      if (chat) remember({ id: chat.id, createdAt: chat.updated_at, preview: chat.title }, messages, running);
    }

    /** watch follows a turn to its end, and then has the server's messages. */
    async function watch(turnId: string, chatId: string) {
      const { signal } = opened;
      set((s) => ({
        turn: newTurn(turnId), starting: false, stopping: false, broken: false,
        messages: s.messages.map((m) => (m.pending ? { ...m, turn_id: turnId } : m)),
      }));
      save(turnId);
      try {
        await follow(turnId, {
          after: 0,
          signal,
          onBroken: (broken) => {
            if (signal.aborted) return;
            set({ broken });
            if (!broken) wake();
          },
          onEvents: (events) => take(events, chatId),
        });
      } catch (error) {
        if (!signal.aborted) set({ fault: faultOf(error) });
      }
      if (!signal.aborted) await ended(chatId, signal);
    }

    function take(events: TurnEvent[], chatId: string) {
      const was = get().turn;
      if (!was) return;
      const turn = events.reduce(reduce, was);
      set({ turn, broken: false });
      if (turn.approvals.some((a) => !a.nonce)) void nonces(turn.turnId, opened.signal);
      if (events.some((e) => e.type === "tool_complete" || e.type === "workflow")) changed(chatId, "workspace", "payloads");
    }

    /** nonces has what answers of approvals need, and asks again until it is there. */
    async function nonces(turnId: string, signal: AbortSignal) {
      if (asking === turnId) return;
      asking = turnId;
      const lacking = () => !signal.aborted && get().turn?.turnId === turnId && get().turn?.approvals.some((a) => !a.nonce);
      for (let tries = 0; lacking(); tries++) {
        try {
          const list = await waiting(turnId);
          if (lacking()) set(({ turn }) => ({ unanswerable: false, turn: turn && { ...turn, approvals: turn.approvals.map((a) => ({ ...a, ...list.find((b) => b.tool_use_id === a.tool_use_id), reason: a.reason })) } }));
        } catch (error) {
          if (lacking()) set({ unanswerable: true });
          if (isLocked(error)) break;
        }
        if (lacking()) await new Promise<void>((resolve) => setTimeout((wake = resolve), nonceWaits[Math.min(tries, nonceWaits.length - 1)]));
      }
      if (asking === turnId) asking = "";
      if (!signal.aborted && !lacking()) set({ unanswerable: false });
    }

    async function ended(chatId: string, signal: AbortSignal) {
      const { turn } = get();
      // What was seen stays, whether or not the server's own can be had.
      if (turn) {
        set((s) => ({
          turn: null, broken: false, stopping: false, starting: false,
          messages: [...s.messages.map((m) => (m.pending ? { ...m, pending: false } : m)), ...(turn.ended ? [messageOfTurn(turn, new Date().toISOString())] : [])],
        }));
      }
      changed(chatId, "workspace", "payloads");
      if (!signal.aborted) await fetchMessages(chatId, signal, true).catch(() => {});
      const end = turn?.ended;
      if (!signal.aborted && end?.type === "error" && get().messages.at(-1)?.status !== "error") set({ fault: end });
    }

    async function fetchMessages(ref: string, signal: AbortSignal, quiet = false) {
      const round = rounds;
      const loaded = get().messages.length;
      const limit = Math.min(maxPage, quiet ? Math.max(pageSize, loaded + 2) : pageSize);
      const page = await lastPage(ref, { limit, signal });
      if (signal.aborted) return null;
      if (round !== rounds) {
        // A question was sent meanwhile, which this page knows nothing of.
        missed = true;
        set({ chat: page.chat, chatId: page.chat.id, loading: false, loadFault: null, locked: false });
        return null;
      }
      const seen = get().messages;
      const running = page.turn_id && !get().turn ? page.turn_id : null;
      set((s) => ({
        chat: page.chat, chatId: page.chat.id, before: page.before ?? null, leaf: page.leaf ?? null, loading: false, loadFault: null, locked: false,
        messages: [...page.messages, ...questions(page, s.messages)],
      }));
      letGo(seen, get().messages);
      client.setQueryData(["messages", page.chat.id], page.total);
      save(page.turn_id);
      return { running, chatId: page.chat.id };
    }

    /** start is what all ways to begin a turn share: the question shows at once, and goes again where it is refused. */
    async function start(shown: GeneralChatMessage[], ask: () => Promise<StartedTurn>, what: string, draft = ""): Promise<boolean> {
      const was = get();
      if (was.starting || was.turn) return false;
      const { signal } = opened;
      const mine = (beginning = { cancelled: false });
      rounds++;
      missed = false;
      set({ messages: shown, starting: true, stopping: false, fault: null });
      let started: StartedTurn;
      try {
        started = await ask();
      } catch (error) {
        giveBack(was.chatId, draft);
        if (signal.aborted || isLocked(error)) tellFault(what, error);
        if (signal.aborted) return false;
        letGo(shown, was.messages);
        set({ messages: was.messages, starting: false, fault: faultOf(error), ...(isLocked(error) ? { locked: true } : {}) });
        if (missed) void get().reload();
        return false;
      }
      void client.invalidateQueries({ queryKey: ["chats"] });
      if (mine.cancelled) void cancelTurn(started.turn_id).catch(() => {});
      if (signal.aborted) return true; // they look at another chat; the turn goes on
      if (!was.chatId) {
        set({ chatId: started.chat_id, chat: { ...provisional(started.chat_id, started.conversation_id ?? 0, shown.at(-1)?.content ?? ""), ...freshMode() } });
        useFreshMode.setState({ mode: null });
        onStarted(started.chat_id);
      }
      void watch(started.turn_id, started.chat_id);
      return true;
    }

    /** join follows the turn of a chat that has no answer yet: until then the server lists nothing of it. */
    async function join(ref: string, signal: AbortSignal) {
      const turnId = await runningTurn(ref, signal);
      if (signal.aborted) return;
      if (!turnId) throw new Error("the chat has no answer yet");
      const known = cachedMessages(ref).filter((m) => m.id === questionOf(turnId));
      set({ loading: false, chat: provisional(ref, 0, known[0]?.content ?? ""), chatId: ref, messages: known.map((m) => ({ ...m, pending: true, turn_id: turnId })) });
      await watch(turnId, ref);
    }

    return {
      ...empty,

      async open(ref) {
        const was = get();
        if (ref !== null && (ref === was.chatId || ref === String(was.chat?.number ?? ""))) return;
        opened.abort();
        opened = new AbortController();
        asking = "";
        letGo(was.messages, []);
        const { signal } = opened;
        const cached = ref ? cachedMessages(ref) : [];
        set({ ...empty, opened: was.opened + 1, context: was.context, locked: was.locked, chatId: ref, messages: cached.filter((m) => !isQuestion(m.id)), loading: ref !== null });
        if (ref === null) return;
        try {
          const found = await fetchMessages(ref, signal);
          if (found?.running) await watch(found.running, found.chatId);
        } catch (error) {
          const first = error instanceof ApiFault && error.status === 409;
          const fault = first ? await join(ref, signal).then(() => null, (e: unknown) => e) : error;
          if (fault && !signal.aborted) set({ loading: false, loadFault: fault, locked: isLocked(fault) });
        }
      },

      async reopen() {
        const { chatId } = get();
        await get().open(null);
        await get().open(chatId);
      },

      async reload() {
        const { chatId, turn, starting } = get();
        if (!chatId || turn || starting) return;
        const { signal } = opened;
        try {
          const found = await fetchMessages(chatId, signal, true);
          if (found?.running && !get().turn) await watch(found.running, found.chatId);
        } catch (error) {
          if (!signal.aborted && get().messages.length === 0) set({ loading: false, loadFault: error });
        }
      },

      async loadOlder() {
        const { chatId, before, leaf, loadingOlder, loading } = get();
        if (!chatId || !before || loadingOlder || loading) return;
        const { signal } = opened;
        set({ loadingOlder: true });
        try {
          const page = await pageOfMessages(chatId, { limit: 100, before, ...(leaf ? { leaf } : {}), signal });
          if (!signal.aborted) set((s) => ({ messages: [...page.messages, ...s.messages], before: page.before ?? null, loadingOlder: false }));
        } catch (error) {
          if (signal.aborted) return;
          set({ loadingOlder: false });
          tellFault("Older messages can't be shown", error);
        }
      },

      async send(content, type = "text_input", metadata, extra = {}) {
        const { chatId, messages, context } = get();
        const { attachments = [], uploads = [] } = extra;
        const brought = uploads.map((u) => new File([u.text], u.name, { type: "text/plain" }));
        const shown = [...messages, question(content, attachmentsOf([...attachments, ...brought]))];
        return start(shown, async () => begin({
          message: content,
          ...(chatId ? { chat_id: chatId } : {}),
          ...(type === "text_input" ? {} : { interaction_type: type, action_metadata: metadata ?? {} }),
          ...(Object.keys(context).length > 0 ? { context } : {}),
          ...choices(extra),
          ...(await filesOf(attachments, uploads)),
        }), "The message can't be sent", type === "text_input" ? content : "");
      },

      async edit(messageId, content) {
        const { chatId, messages } = get();
        const at = messages.findIndex((m) => m.id === messageId);
        if (!chatId || at < 0) return false;
        const shown = [...messages.slice(0, at), question(content, [])];
        return start(shown, () => again(chatId, { message_id: messageId, message: content }), "The question can't be changed");
      },

      async retry(messageId) {
        const { chatId, messages } = get();
        const at = messages.findIndex((m) => m.id === messageId);
        if (!chatId || at < 0) return false;
        const asks = messages[at]?.role === "user";
        return start(messages.slice(0, asks ? at + 1 : at), () => again(chatId, { message_id: messageId }), "The answer can't be made again");
      },

      async switchTo(messageId, overwrite) {
        const { chatId } = get();
        if (!chatId || get().turn) return;
        try {
          await api.POST("/api/chats/{chat}/switch", { params: { path: { chat: chatId } }, body: { message_id: messageId, ...(overwrite ? { overwrite } : {}) } });
          changed(chatId, "workspace", "payloads");
          await get().reload();
        } catch (error) {
          if (error instanceof ApiFault && error.status === 409 && !overwrite)
            tell(`${error.message}.`, { label: "Switch anyway", run: () => void get().switchTo(messageId, true) });
          else tellFault("The branch can't be shown", error);
        }
      },

      async confirm(approval, decision, reason, content, only) {
        try {
          await answer(approval, decision, reason, content, only);
        } catch (error) {
          // Somebody else was first, or it ran out: the turn's own event follows.
          if (error instanceof ApiFault && error.status === 409) tell(`${error.message}.`);
          else throw error;
        }
        set(({ turn }) => ({ turn: turn && { ...turn, approvals: turn.approvals.filter((a) => a.tool_use_id !== approval.tool_use_id) } }));
      },

      cancel() {
        const { turn, starting } = get();
        if (!turn && !starting) return;
        set({ stopping: true });
        if (!turn) beginning.cancelled = true;
        else cancelTurn(turn.turnId).catch((error: unknown) => tellFault("The answer can't be stopped", error));
      },

      updateContext: (updates) => set((s) => ({ context: Object.fromEntries(Object.entries({ ...s.context, ...updates }).filter(([, value]) => value !== undefined)) })),
      setChat: (chat) => {
        if (chat.id === get().chatId) set({ chat });
      },
      dismissFault: () => set({ fault: null }),
      lock: (locked) => set({ locked }),
      close: () => opened.abort(),
    };
  });
  return store;
}

function question(content: string, attachments: Attachment[]): GeneralChatMessage {
  return {
    id: `pending-${crypto.randomUUID()}`, role: "user", content, timestamp: new Date().toISOString(), thoughts: [], tool_history: [],
    attachments, payloads: [], footnotes: [], status: "complete", pending: true,
  };
}

/** letGo frees the previews of messages that are shown no longer. */
function letGo(were: GeneralChatMessage[], are: GeneralChatMessage[]) {
  const kept = new Set(are.flatMap((m) => m.attachments));
  for (const m of were) revoke(m.attachments.filter((a) => !kept.has(a)));
}

const maxTitle = 200; // characters; the header cuts what it has no room for

/** freshMode is the mode that a chat was begun with. */
function freshMode(): Pick<Chat, "approvals" | "plan"> {
  const { approvals, plan } = freshFields();
  return { ...(approvals ? { approvals } : {}), ...(plan ? { plan } : {}) };
}

/** provisional is a chat until its first answer, when the server lists it. */
function provisional(id: string, number: number, title: string): Chat {
  const now = new Date().toISOString();
  return { id, number, title: title.replace(/\s+/g, " ").trim().slice(0, maxTitle) || "New chat", model: "", messages: 0, last_turn: 0, active_leaf_message_id: "", created_at: now, updated_at: now };
}

/** questions is the question of a turn that still runs, which the server lists among the messages at the turn's end. */
function questions(page: { turn_id?: string; messages: GeneralChatMessage[]; asked: GeneralChatMessage[] }, shown: GeneralChatMessage[]): GeneralChatMessage[] {
  const { turn_id } = page;
  if (!turn_id || page.messages.some((m) => m.turn_id === turn_id)) return [];
  const pending = shown.filter((m) => m.pending);
  // This page's own has the pictures that were chosen.
  return pending.length > 0 ? pending : page.asked.map((m) => ({ ...m, pending: true }));
}
