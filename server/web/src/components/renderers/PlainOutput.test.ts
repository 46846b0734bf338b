import { expect, it } from "vitest";
import { beginning, pretty } from "./PlainOutput";

it("sets out JSON, and leaves what is none", () => {
  expect(pretty('{"written":"a.md","size":9}')).toEqual({ shown: '{\n  "written": "a.md",\n  "size": 9\n}', language: "json" });
  expect(pretty("{not json").language).toBe("text");
  expect(pretty("[" + "1,".repeat(200_000) + "1]").language).toBe("text"); // too large to be set out
});

it("folds what is long, in lines or in characters", () => {
  expect(beginning("a\nb\n")).toBe("a\nb\n");
  expect(beginning(Array.from({ length: 41 }, (_, i) => `${i}`).join("\n")).split("\n")).toHaveLength(40);
  expect(beginning(Array.from({ length: 40 }, (_, i) => `${i}`).join("\n") + "\n").split("\n")).toHaveLength(41);
  expect(beginning("x".repeat(10_000_000))).toHaveLength(4_000);
});
