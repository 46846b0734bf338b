import { expect, it } from "vitest";
import { payloadKey, useEdits } from "./edits";

const draft = (content: string, data?: unknown) => ({ type: "draft", title: "Letter", content, data });

it("tells payloads of one type and title apart by what they say", () => {
  expect(payloadKey(draft("Dear A"))).toBe(payloadKey(draft("Dear A")));
  expect(payloadKey(draft("Dear A"))).not.toBe(payloadKey(draft("Dear B")));
  expect(payloadKey(draft("", [1]))).not.toBe(payloadKey(draft("", [2])));
});

it("keeps the last edits alone", () => {
  const { keep } = useEdits.getState();
  for (let i = 0; i < 60; i++) keep(`k${i}`, "text");
  keep("k30", "again");
  const { edits } = useEdits.getState();
  expect(Object.keys(edits).length).toBe(50);
  expect(edits.k30).toBe("again");
  expect(edits.k5).toBeUndefined();
});

it("forgets a text that the server has, and keeps what was written since", () => {
  const { keep, drop } = useEdits.getState();
  keep("a", "one");
  drop("a", "one");
  expect(useEdits.getState().edits.a).toBeUndefined();
  keep("a", "two");
  drop("a", "one");
  expect(useEdits.getState().edits.a).toBe("two");
});
