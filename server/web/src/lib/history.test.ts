import { describe, expect, it } from "vitest";
import { messagesOf } from "./history";
import { turns } from "./testdata/turns";

describe("messages of the API", () => {
  const listed = turns.build.messages.messages;
  const answer = listed.at(-1);

  it("have what the page of messages tells of their calls", () => {
    const call = {
      id: "01CALL", message_id: answer?.id ?? "", turn_id: answer?.turn_id ?? "", tool_use_id: "call_0_1", tool_id: "write_file", index: 1, status: "success",
      duration_ms: 3, changes: [{ path: "src/parse_amounts.py", kind: "added" }], changed: 1,
    };
    const message = messagesOf(listed, [call]).at(-1);
    expect(message?.tool_history[1]).toMatchObject({ call_id: "01CALL", duration_ms: 3, changed: 1, output: expect.stringContaining("made src/parse_amounts.py") });
    expect(message?.tool_history[0]?.call_id).toBeUndefined();
  });

  it("have the calls that the page of a call made with that call", () => {
    const call = { id: "01CALL", message_id: answer?.id ?? "", tool_use_id: "call_0_1", tool_id: "x:write_file", index: 1, status: "success", app_calls: 30 };
    const made = { ...call, id: "01APP", app_of: "01CALL", tool_use_id: "call_9", tool_id: "x:refresh", args: { n: 1 }, result: { text: "fresh" }, changed: 2, app_calls: undefined };
    const large = { ...made, id: "01LARGE", result: undefined };
    const message = messagesOf(listed, [call, made, large]).at(-1);
    expect(message?.tool_history[1]).toMatchObject({ call_id: "01CALL", app_calls: 30, apps: [{ call_id: "01APP", tool_name: "refresh", input: { n: 1 }, output: "fresh", changed: 2 }, { call_id: "01LARGE" }] });
    expect(message?.tool_history[1]?.apps?.[1]?.output).toContain("too long");
    expect(message?.tool_history.filter(Boolean)).toHaveLength(messagesOf(listed).at(-1)?.tool_history.length ?? 0);
  });

  it("have every call's payload for the panel, and its id, from the list", () => {
    const [question, reviewed] = turns.reviews.messages.messages;
    if (!question || !reviewed) throw new Error("nothing was recorded");
    const uses = reviewed.parts.flatMap((p) => (p.call ? [p.call.id] : []));
    const calls = uses.map((use, index) => ({
      id: `01CALL${index}`, message_id: reviewed.id, tool_use_id: use, tool_id: "x:t", index, status: "success", renderer: "html",
      workspace_payload: { type: "draft", title: `Letter ${index}`, content: "Dear" }, payload_id: `${reviewed.id}.${use}`,
    }));
    const [, message] = messagesOf([question, { ...reviewed, workspace_payload: calls.at(-1)?.workspace_payload, custom_payload: { type: "note", data: 1 } }], calls);
    expect(message?.tool_history.map((t) => t.workspace_payload?.title)).toEqual(calls.map((c) => c.workspace_payload.title));
    expect(message?.tool_history[0]).toMatchObject({ payload_id: `${reviewed.id}.${uses[0]}`, renderer: "html" });
    expect(message?.workspace_payload?.title).toBe(`Letter ${calls.length - 1}`);
    expect(message?.custom_payload).toEqual({ type: "note", data: 1 });
  });

  it("say how they ended", () => {
    const message = messagesOf(turns.broken.messages.messages).at(-1);
    expect(message).toMatchObject({ status: "error", error: "script: 401: the key was refused", fault: { code: "unauthorised" } });
    expect(message?.fault?.hints[0]).toContain("fettle keys list");
    expect(messagesOf(turns.cancelled.messages.messages).at(-1)?.status).toBe("cancelled");
  });

  it("know their branches", () => {
    const id = listed[0]?.id ?? "";
    expect(messagesOf(listed, [], { [id]: { ids: ["x", id], index: 1 } })[0]?.siblings).toEqual({ ids: ["x", id], index: 1 });
  });

  it("have attachments, and draw only pictures without scripts", () => {
    const parts = [
      { type: "file", name: "a.csv", text: "a,b" },
      { type: "image", name: "a.png", mime: "image/png", data: "AAAA" },
      { type: "image", name: "a.svg", mime: "image/svg+xml", data: "AAAA" },
    ];
    const [message] = messagesOf([{ ...listed[0], parts }] as typeof listed);
    expect(message?.attachments.map((a) => [a.name, a.size, Boolean(a.preview)])).toEqual([["a.csv", 3, false], ["a.png", 3, true], ["a.svg", 3, false]]);
  });
});
