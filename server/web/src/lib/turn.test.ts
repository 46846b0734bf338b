import { describe, expect, it } from "vitest";
import type { TurnEvent } from "@/lib/api/client";
import { messagesOf } from "@/lib/history";
import { turns } from "./testdata/turns";
import { newTurn, reduce, textOf } from "./turn";

const play = (events: TurnEvent[]) => events.reduce(reduce, newTurn(events[0]?.turn_id ?? ""));
const upTo = (events: TurnEvent[], type: TurnEvent["type"]) => events.slice(0, events.findIndex((e) => e.type === type) + 1);

describe("a turn's events", () => {
  it.each(["agents", "build", "denied", "failed", "reviews"] as const)("make the text that the server has at the end: %s", (name) => {
    const turn = play(turns[name].events);
    if (turn.ended?.type !== "complete") throw new Error("it isn't complete");
    expect(textOf(turn)).toBe(turn.ended.payload.message);
  });

  it.each(Object.keys(turns) as (keyof typeof turns)[])("count once, however often they come: %s", (name) => {
    const { events } = turns[name];
    const twice = events.flatMap((e, i) => (i % 3 === 0 ? [e, ...events.slice(Math.max(0, i - 5), i + 1)] : [e]));
    expect(play(twice)).toEqual(play(events));
  });

  it.each(Object.keys(turns) as (keyof typeof turns)[])("make the message that the server lists after them: %s", (name) => {
    const turn = play(turns[name].events);
    const listed = messagesOf(turns[name].messages.messages).at(-1);
    expect(listed?.content.trimEnd()).toBe(textOf(turn).trimEnd());
    const shape = (t: object) => ("text" in t ? { ...t, text: String(t.text).trim() } : t);
    expect(listed?.thoughts.map(shape)).toEqual(turn.thoughts.map(shape));
    expect(listed?.tool_history.map((t) => [t.tool_name, t.input, t.status])).toEqual(turn.tools.map((t) => [t.tool_name, t.input, t.status]));
    expect(listed?.status).toBe(turn.ended?.type);
  });

  it("show an approval until it is answered", () => {
    const { events } = turns.build;
    const [approval] = play(upTo(events, "confirm_request")).approvals;
    expect(approval).toMatchObject({ tool: "run_command", reason: "the tool wants an approval", input: { command: expect.stringContaining("python3") } });
    expect(play(upTo(events, "confirm_result")).approvals).toEqual([]);
  });

  it("keep the progress of a call while it runs", () => {
    const { events } = turns.reviews;
    const last = events.findLastIndex((e) => e.type === "tool_progress");
    const running = play(events.slice(0, last + 1));
    expect(running.tools[0]?.status).toBe("running");
    const updates = Object.values(running.progress)[0]?.updates ?? [];
    expect(updates.length).toBe(events.filter((e) => e.type === "tool_progress").length);
    const done = play(events);
    expect(done.progress).toEqual({});
    expect(done.tools[0]).toMatchObject({ status: "success", workspace_payload: { type: "review_analysis" } });
  });

  it("tell why a turn ended in an error, and what can be done", () => {
    const turn = play(turns.broken.events);
    expect(turn.ended).toMatchObject({ type: "error", code: "unauthorised", retryable: false });
    expect(turn.ended?.type === "error" && turn.ended.hints.length).toBeGreaterThan(0);
    expect(textOf(turn)).toBe("It begins well, and then");
  });

  it("group what agents do under their names", () => {
    const { thoughts } = play(turns.agents.events);
    expect(thoughts.filter((t) => t.type === "agent_start").map((t) => t.agent)).toEqual(["interface", "scavenger", "synthesizer", "interface"]);
    expect(thoughts).toContainEqual(expect.objectContaining({ type: "tool_call", agent: "scavenger", tool: "read_notion_mock", query: "login system" }));
  });

  it("never take a model's own words for a card", () => {
    const delta = (seq: number, text: string) => ({ type: "text_delta", text, seq, turn_id: "t", time: "" }) as TurnEvent;
    const turn = [delta(1, "see [[to"), delta(2, "ol:0]] there")].reduce(reduce, newTurn("t"));
    expect(textOf(turn)).toBe("see \\[\\[tool:0]] there");
  });

  it("pass over events of a newer server", () => {
    const turn = reduce(newTurn("t"), { type: "hologram", seq: 1 } as unknown as TurnEvent);
    expect(turn).toEqual({ ...newTurn("t"), seq: 1 });
  });
});
