import { expect, it } from "vitest";
import { readPlan } from "./plan";

// Plans as a server gave them.
it("reads plans of files and of content", () => {
  expect(readPlan({ renderer: "code", config: { editable: true, file: "site/app.js", language: "auto" } }).plan).toEqual({
    renderer: "code", file: "site/app.js", language: "auto", editable: true,
  });
  expect(readPlan({ renderer: "code", config: { content: "total 20\n", language: "shell" } }).plan).toEqual({
    renderer: "code", content: "total 20\n", language: "shell", editable: false,
  });
  expect(readPlan({ renderer: "document", config: { content: { a: [1] } } }).plan).toMatchObject({ content: '{\n  "a": [\n    1\n  ]\n}' });
});

it("reads a failure with its traceback", () => {
  const plan = readPlan({
    renderer: "code",
    config: { content: "Traceback (most recent call last):\n…", language: "text" },
    error: { message: "FileNotFoundError: nowhere.txt", traceback: "Traceback (most recent call last):\n…" },
  });
  expect(plan.error?.message).toBe("FileNotFoundError: nowhere.txt");
});

it("shows nothing special of what it can't read", () => {
  for (const value of [null, "html", [], {}, { renderer: "code", config: { file: null } }, { renderer: "video", config: {} }]) {
    expect(readPlan(value).plan).toEqual({ renderer: "none" });
  }
  expect(readPlan({ renderer: "code", config: { file: null }, problems: ["file: ../x is not in the workspace", 3] }).problems).toEqual([
    "file: ../x is not in the workspace",
  ]);
});
