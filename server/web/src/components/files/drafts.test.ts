import { expect, it } from "vitest";
import { draftKey, drop, rebase, useDrafts } from "./drafts";

const draft = () => useDrafts.getState().drafts[draftKey("c", "a.md")];

it("keeps what was typed while a text was saved, as made of what was saved", () => {
  const { keep } = useDrafts.getState();
  keep("c", "a.md", { text: "sent and more", was: "old" });
  rebase("c", "a.md", "new");
  drop("c", "a.md", "sent");
  expect(draft()).toEqual({ text: "sent and more", was: "new" });
});

it("forgets what is saved, and makes no draft of nothing", () => {
  const { keep } = useDrafts.getState();
  keep("c", "a.md", { text: "sent", was: "old" });
  rebase("c", "a.md", "new");
  drop("c", "a.md", "sent");
  expect(draft()).toBeUndefined();
  rebase("c", "a.md", "newer");
  expect(draft()).toBeUndefined();
});
