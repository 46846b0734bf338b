import { beforeEach, describe, expect, it, vi } from "vitest";
import { keepChats } from "./chat/conversations";
import { messagesOf } from "./history";
import { cachedMessages, draftOf, keepDraft, loadSessions, maxSessions, questionOf, remember, saveSessions } from "./storage";
import { turns } from "./testdata/turns";
import type { Session } from "@/types";

const session = (id: string, extra: Partial<Session> = {}): Session => ({ id, createdAt: "2026-11-28T16:31:54Z", preview: "A chat", messages: [], ...extra });
const listed = () => messagesOf(turns.agents.messages.messages);

beforeEach(() => localStorage.clear());

describe("sessions", () => {
  it("come back as they were saved, under document 003's key", () => {
    remember({ id: "c1", createdAt: "2026-11-28T16:31:54Z", preview: "I'm starting on the login system. What's the final spec?" }, listed());
    expect(localStorage.getItem("chaoscontext_sessions")).toContain("login system");
    expect(listed().some((m) => m.content.includes("[[tool:"))).toBe(true);
    expect(localStorage.getItem("chaoscontext_sessions")).not.toContain("[[tool:");
    const [saved] = loadSessions();
    expect(saved?.preview).toBe("I'm starting on the login system. What's"); // 40 characters
    expect(saved?.messages.map((m) => m.role)).toEqual(["user", "assistant"]);
    expect(saved?.messages[1]?.thoughts).toContainEqual({ type: "tool_call", agent: "scavenger", tool: "read_notion_mock", query: "login system" });
    expect(cachedMessages("c1")[1]?.content).toContain("Google OAuth only.");
  });

  it.each(["{", "7", '[{"id":1}]', '[{"id":"a","createdAt":"x","preview":"y","messages":[{"role":"system"}]}]'])("are none where %s stands", (text) => {
    localStorage.setItem("chaoscontext_sessions", text);
    expect(loadSessions()).toEqual([]);
  });

  it("are none where storage is forbidden", () => {
    vi.spyOn(Storage.prototype, "getItem").mockImplementation(() => {
      throw new DOMException("no", "SecurityError");
    });
    expect(loadSessions()).toEqual([]);
  });

  it("are bounded in number and in size", () => {
    const long = { id: "m", role: "user" as const, content: "x".repeat(100_000), thoughts: [], isStreaming: false };
    saveSessions(Array.from({ length: 200 }, (_, i) => session(`c${i}`, { messages: Array.from({ length: 40 }, () => long) })));
    expect(loadSessions()).toHaveLength(maxSessions);
    expect(localStorage.getItem("chaoscontext_sessions")?.length).toBeLessThan(2_000_000);
    expect(loadSessions()[0]?.messages.length).toBeGreaterThan(0);
    expect(loadSessions()[40]?.messages).toEqual([]);
  });

  it("keep the question of a turn that runs, though the server lists its chat later", () => {
    const [question] = listed();
    if (!question) throw new Error("no question");
    remember(session("new"), [{ ...question, pending: true }], "t1");
    keepChats([]);
    expect(cachedMessages("new").map((m) => m.id)).toEqual([questionOf("t1")]);
  });
});

describe("drafts", () => {
  it("are kept for each chat, and go when they are empty", () => {
    keepDraft(null, "new one");
    keepDraft("c1", "half a");
    expect([draftOf(null), draftOf("c1"), draftOf("c2")]).toEqual(["new one", "half a", ""]);
    keepDraft("c1", " ");
    expect(draftOf("c1")).toBe("");
  });
});
