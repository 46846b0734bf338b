// Document 003 §5.6: chats in localStorage, so that the page opens at once. The
// server has the chats; this is a cache of the first ones and their last
// messages, and what a person typed and hasn't sent.
import { dropMarkers } from "@/lib/markers";
import { record, type Fields } from "@/lib/record";
import type { GeneralChatMessage } from "@/types/chat";
import type { Message, Session, ThoughtStep } from "@/types";

const key = "chaoscontext_sessions";
const draftsKey = "fettle_drafts";

export const maxSessions = 50;
const maxWithMessages = 10;
const maxMessages = 12;
const maxContent = 8_000; // characters of a message
const maxDrafts = 50;
const maxPreview = 40; // document 003's

/** loadSessions gives what was saved; nothing where it can't be read. */
export function loadSessions(): Session[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(value) ? value.filter(isSession) : [];
  } catch {
    return [];
  }
}

function isSession(value: unknown): value is Session {
  const s = value as Partial<Session> | null;
  return (
    typeof s?.id === "string" && typeof s.createdAt === "string" && typeof s.preview === "string" && Array.isArray(s.messages) &&
    s.messages.every((m) => typeof m?.id === "string" && typeof m.content === "string" && (m.role === "user" || m.role === "assistant"))
  );
}

/** saveSessions keeps the first sessions, and messages of the first of those. */
export function saveSessions(sessions: Session[]): void {
  let rich = 0;
  const kept = sessions.slice(0, maxSessions).map((s) => {
    const messages = s.messages.length > 0 && rich++ < maxWithMessages ? s.messages.slice(-maxMessages).map(cut) : [];
    return { ...s, preview: previewOf(s.preview), messages };
  });
  try {
    localStorage.setItem(key, JSON.stringify(kept));
  } catch {
    // Full, or forbidden: the page is slower to open, and right all the same.
    try {
      localStorage.removeItem(key);
    } catch {
      // Forbidden altogether.
    }
  }
}

function cut(m: Message): Message {
  return m.content.length <= maxContent && m.thoughts.length <= 40
    ? m
    : { ...m, content: m.content.slice(0, maxContent), thoughts: m.thoughts.slice(0, 40) };
}

export function previewOf(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  const letters = [...line];
  return letters.length > maxPreview ? letters.slice(0, maxPreview).join("") : line;
}

/** remember puts a chat's last messages into the cache, as the newest. */
export function remember(session: Omit<Session, "messages">, messages: GeneralChatMessage[], running?: string): void {
  const shown: Message[] = messages.slice(-maxMessages).map((m) => ({
    id: m.pending && running ? questionOf(running) : m.id,
    role: m.role,
    content: dropMarkers(m.content), // document 003's is the final text
    thoughts: m.thoughts.flatMap(plain),
    isStreaming: false,
  }));
  const others = loadSessions().filter((s) => s.id !== session.id);
  saveSessions([{ ...session, messages: shown }, ...others]);
}

/** plain is a step in document 003's form, which has none for reasoning. */
function plain(step: GeneralChatMessage["thoughts"][number]): ThoughtStep[] {
  switch (step.type) {
    case "agent_start":
      return [{ type: "agent_start", agent: step.agent }];
    case "tool_call":
      return [{ type: "tool_call", agent: step.agent, tool: step.tool, query: step.query }];
    case "tool_result":
      return [{ type: "tool_result", agent: step.agent, tool: step.tool, result: step.result.slice(0, 400) }];
    case "handoff":
      return [{ type: "handoff", from: step.from, to: step.to }];
    case "reasoning":
      return [];
  }
}

/** questionOf is the id in the cache of a question whose turn still runs: the server lists it at the turn's end. */
export function questionOf(turnId: string): string {
  return "question-" + turnId;
}

export function isQuestion(id: string): boolean {
  return id.startsWith("question-");
}

/** cachedMessages are a chat's last messages as they were seen. */
export function cachedMessages(chatId: string): GeneralChatMessage[] {
  const session = loadSessions().find((s) => s.id === chatId);
  return (session?.messages ?? []).map((m) => ({
    id: m.id, role: m.role, content: m.content, timestamp: session?.createdAt ?? "", thoughts: [],
    tool_history: [], attachments: [], payloads: [], footnotes: [], status: "complete",
  }));
}

export function forget(chatId: string): void {
  saveSessions(loadSessions().filter((s) => s.id !== chatId));
}

function drafts(): Fields {
  try {
    return record(JSON.parse(localStorage.getItem(draftsKey) ?? "{}"));
  } catch {
    return {};
  }
}

/** draftOf is what was typed in a chat and not sent; null is the new chat. */
export function draftOf(chatId: string | null): string {
  const text = drafts()[chatId ?? "new"];
  return typeof text === "string" ? text : "";
}

export function keepDraft(chatId: string | null, text: string): void {
  const entries = Object.entries(drafts()).filter(([key]) => key !== (chatId ?? "new")).slice(-(maxDrafts - 1));
  if (text.trim()) entries.push([chatId ?? "new", text]);
  try {
    localStorage.setItem(draftsKey, JSON.stringify(Object.fromEntries(entries)));
  } catch {
    // It stays in the field as long as the page does.
  }
}
