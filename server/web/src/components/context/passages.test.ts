import { expect, test } from "vitest";
import { pieces, rankedBy } from "./passages";

test("the words that were found are marked, by characters", () => {
  expect(pieces("🚗 a car, a cab", [[4, 7], [11, 14]])).toEqual([
    { text: "🚗 a ", found: false },
    { text: "car", found: true },
    { text: ", a ", found: false },
    { text: "cab", found: true },
  ]);
  expect(pieces("nothing", [])).toEqual([{ text: "nothing", found: false }]);
  expect(pieces("all", [[0, 3]])).toEqual([{ text: "all", found: true }]);
});

test("the ranking is described, with the provider that received the text", () => {
  const passages = [{}] as never[];
  expect(rankedBy({ passages, embedded: 0 })).toContain("by words.");
  expect(rankedBy({ passages, embedded: 2, model: "p/m" })).toBe("Found by words and by meaning, with p/m. It received the text of 2 documents.");
  expect(rankedBy({ passages, embedded: 0, no_meaning: "p is not reachable" })).toBe("Found by words alone: p is not reachable");
  expect(rankedBy({ passages: [], embedded: 0 })).toBe("Nothing was found.");
});
