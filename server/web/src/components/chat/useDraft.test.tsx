import { act, renderHook } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { giveBack } from "@/lib/chat/choices";
import { pick, pickedOf } from "@/lib/chat/picked";
import { draftOf, keepDraft } from "@/lib/storage";
import { useDraft } from "./useDraft";

const draft = (chatId: string | null) => renderHook((id: string | null) => useDraft(id), { initialProps: chatId });

beforeEach(() => localStorage.clear());

describe("a draft", () => {
  it("is kept once a person has typed", () => {
    const field = draft("a");
    act(() => field.result.current.write("half a thought"));
    field.unmount();
    expect(draftOf("a")).toBe("half a thought");
  });

  it("isn't brought back or erased by a field that nobody typed in", () => {
    keepDraft("a", "of this window");
    const field = draft("a");
    keepDraft("a", "of another window");
    field.unmount();
    expect(draftOf("a")).toBe("of another window");
  });

  it("is that of the chat's id, once the chat that was named by its number has it", () => {
    keepDraft("a", "half a thought");
    const field = draft("1");
    field.rerender("a");
    expect(field.result.current.text).toBe("half a thought");
    field.unmount();
    expect([draftOf("1"), draftOf("a")]).toEqual(["", "half a thought"]);
  });

  it("goes with its files to the chat that was made meanwhile", () => {
    const shown = { name: "a.txt", mime: "text/plain", size: 1 };
    pick(null, [{ file: new File(["a"], "a.txt"), shown }]);
    const field = draft(null);
    act(() => field.result.current.write("the next question"));
    field.rerender("a");
    field.unmount();
    expect([draftOf(null), draftOf("a")]).toEqual(["", "the next question"]);
    expect([pickedOf(null).length, pickedOf("a").map((p) => p.shown)]).toEqual([0, [shown]]);
  });

  it("has what was refused before what was typed since", () => {
    const field = draft("a");
    act(() => field.result.current.sent());
    act(() => field.result.current.write("more"));
    act(() => giveBack("a", "refused"));
    expect(field.result.current.text).toBe("refused\n\nmore");
    field.unmount();
    expect(draftOf("a")).toBe("refused\n\nmore");
  });
});
