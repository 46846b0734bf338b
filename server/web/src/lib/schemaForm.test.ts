import { expect, test } from "vitest";
import { fieldsOf, initialValues, readForm } from "./schemaForm";

// The schemas of the workflows vendor_finder and research, and what else there may be.
const vendor = { type: "object", properties: { category: { type: "string", minLength: 1, description: "The kind of business, such as movers." }, location: { type: "string" } }, required: ["category", "location"], additionalProperties: false };
const research = { type: "object", properties: { question: { type: "string", minLength: 3, maxLength: 500 }, aspects: { type: "array", items: { type: "string" } } }, required: ["question", "aspects"] };
const rest = {
  $defs: { kind: { enum: ["short", "long"], default: "long" } },
  properties: {
    count: { type: "integer", minimum: 1, maximum: 5, default: 2 },
    share: { type: ["number", "null"] },
    deep: { type: "boolean" },
    kind: { $ref: "#/$defs/kind" },
    sources: { type: "array", items: { enum: ["workspace", "wikipedia"] }, minItems: 1 },
    more: { type: "object" },
  },
};

test("what is needed is asked for, in words", () => {
  const fields = fieldsOf(vendor);
  expect(fields.map((f) => [f.label, f.kind, f.required])).toEqual([["Category", "text", true], ["Location", "text", true]]);
  expect(readForm(fields, initialValues(fields)).errors).toEqual({ category: "This is needed.", location: "This is needed." });
  expect(readForm(fields, { category: "movers", location: "Portland" })).toEqual({ value: { category: "movers", location: "Portland" }, errors: {} });
});

test("a list is a line each, and lengths are held", () => {
  const fields = fieldsOf(research);
  expect(fields.map((f) => f.kind)).toEqual(["long", "lines"]);
  expect(readForm(fields, { question: "ab", aspects: " naps \n\nlight" })).toEqual({ value: { aspects: ["naps", "light"] }, errors: { question: "At least 3 characters are needed." } });
});

test("numbers, choices, references and JSON", () => {
  const fields = fieldsOf(rest);
  expect(fields.map((f) => f.kind)).toEqual(["integer", "number", "boolean", "choice", "choices", "json"]);
  const start = initialValues(fields);
  expect(readForm(fields, start).value).toEqual({ count: 2, deep: false, kind: "long" });
  const wrong = readForm(fields, { ...start, count: "6", share: "x", more: "[1]" });
  expect(wrong.errors).toEqual({ count: "It has to be 5 or less.", share: "This is no number.", more: "An object is needed: { … }" });
  expect(readForm(fields, { ...start, count: "2.5" }).errors.count).toBe("A whole number is needed.");
  expect(readForm(fields, { ...start, share: "0,5", sources: [1], more: '{"a": 1}' }).value).toMatchObject({ share: 0.5, sources: ["wikipedia"], more: { a: 1 } });
});

test("a schema of a stranger's breaks nothing", () => {
  for (const odd of [null, 5, "x", { properties: 3 }, { properties: { a: null } }, { properties: { a: { $ref: "#/properties/a" } } }, { properties: { a: { type: "string", pattern: "(" } }, required: "a" }]) {
    const fields = fieldsOf(odd);
    expect(() => readForm(fields, { a: "x" })).not.toThrow();
  }
});
