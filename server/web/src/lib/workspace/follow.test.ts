import { expect, test } from "vitest";
import type { GeneralChatMessage, ShownPayload, ToolCall } from "@/types/chat";
import { findCall, follow } from "./follow";
import recorded from "./testdata/payloads.json";

const known = (type: string) => type in recorded;
const call = (over: Partial<ToolCall> = {}): ToolCall => ({ tool_name: "analyze_reviews", tool_id: "reviews:analyze_reviews", input: {}, output: "", call_id: "c1", status: "success", ...over });
const proposal: ShownPayload = { payload_id: "p1", type: "schema_proposal", data: recorded.schema_proposal.data, source: "model" };
const article: ShownPayload = { payload_id: "p2", type: "pubmed_article", data: {}, source: "tool" };

function answer(over: Partial<GeneralChatMessage> = {}): GeneralChatMessage {
  return { id: "m", role: "assistant", content: "", timestamp: "", thoughts: [], tool_history: [], attachments: [], footnotes: [], payloads: [], status: "complete", ...over };
}

test("the newest result shows, and one of an earlier answer where the last has none", () => {
  const first = answer({ id: "1", tool_history: [call({ workspace_payload: recorded.review_analysis })] });
  expect(follow([first, answer({ id: "2" })], null, known)).toMatchObject({ kind: "payload", payload: { title: recorded.review_analysis.title } });
  const second = answer({ id: "2", workspace_payload: recorded.review_collection });
  expect(follow([first, second], null, known)).toMatchObject({ payload: { type: "review_collection" } });
  expect(follow([answer({ role: "user", workspace_payload: recorded.review_collection })], null, known)).toBeNull();
});

test("a call's payload is known by its message and its call there, once the answer is kept", () => {
  const given = call({ tool_use_id: "u1", workspace_payload: recorded.review_analysis });
  expect(follow([answer({ id: "01MESSAGE", tool_history: [given] })], null, known)).toMatchObject({ kind: "payload", payloadId: "01MESSAGE.u1" });
  expect(follow([], { tools: [given], payloads: [], workflow: null }, known)).toMatchObject({ kind: "payload", payloadId: undefined });
});

test("a running answer comes before those that ended, once it has something", () => {
  const done = answer({ workspace_payload: recorded.review_collection });
  expect(follow([done], { tools: [call({ status: "running" })], payloads: [], workflow: null }, known)).toMatchObject({ payload: { type: "review_collection" } });
  expect(follow([done], { tools: [call({ workspace_payload: recorded.review_analysis })], payloads: [], workflow: null }, known)).toMatchObject({ payload: { type: "review_analysis" } });
  expect(follow([done], { tools: [], payloads: [], workflow: { instance: "w1", step: "find", state: "running" } }, known)).toEqual({ kind: "workflow", instance: "w1" });
});

test("what waits for a person comes first; a tool's payload after its workspace payload", () => {
  const both = answer({ tool_history: [call({ workspace_payload: recorded.review_analysis })], payloads: [proposal, article] });
  expect(follow([both], null, known)).toMatchObject({ payloadId: "p1", payload: { type: "schema_proposal", data: recorded.schema_proposal.data } });
  expect(follow([{ ...both, payloads: [article] }], null, known)).toMatchObject({ payload: { type: "review_analysis" } });
  expect(follow([answer({ payloads: [article] })], null, known)).toMatchObject({ payloadId: "p2" });
});

test("a type that only its toolset knows shows as its toolset shows it", () => {
  const own = call({ workspace_payload: { type: "data_profile", title: "sales.csv", content: "" }, render_plan: { renderer: "html" } });
  expect(follow([answer({ tool_history: [own] })], null, known)).toEqual({ kind: "call", call: own });
  expect(follow([answer({ tool_history: [{ ...own, render_plan: undefined }] })], null, known)).toMatchObject({ kind: "payload" });
  const code = call({ render_plan: { renderer: "code" } });
  expect(follow([answer({ tool_history: [own, code] })], null, known)).toEqual({ kind: "call", call: own });
  expect(follow([answer({ tool_history: [code] })], null, known)).toEqual({ kind: "call", call: code });
  expect(follow([answer({ tool_history: [{ ...code, status: "error" }] })], null, known)).toBeNull();
});

test("calls that run side by side may leave places open", () => {
  const holes: ToolCall[] = [];
  holes[2] = call({ call_id: "c3" });
  expect(follow([answer({ tool_history: holes })], null, known)).toBeNull();
  expect(findCall([answer({ tool_history: holes })], null, "c3").tool_name).toBe("analyze_reviews");
  expect(findCall([], null, "c9")).toMatchObject({ call_id: "c9" });
});
