import { expect, it } from "vitest";
import type { FormField } from "@/types/chat";
import { contentOf, problemsOf, problemsOfDetail, startValues } from "./form";

const fields: FormField[] = [
  { name: "seat", type: "string", required: true, default: "12A", min_length: 2, max_length: 3 },
  { name: "bags", type: "integer", minimum: 0, maximum: 3, default: 0 },
  { name: "meal", type: "boolean", default: false },
  { name: "class", type: "choice", required: true, options: [{ value: "eco" }, { value: "biz" }] },
  { name: "extras", type: "choices", options: [{ value: "wifi" }, { value: "lounge" }], max_items: 1, default: ["wifi"] },
];

it("begins with the defaults, and sends numbers as numbers and nothing for what is empty", () => {
  const values = startValues(fields);
  expect(values).toEqual({ seat: "12A", bags: "0", meal: false, class: "", extras: ["wifi"] });
  expect(contentOf(fields, { ...values, class: "eco", bags: "" })).toEqual({ seat: "12A", meal: false, class: "eco", extras: ["wifi"] });
  expect(contentOf(fields, values).bags).toBe(0);
});

it("says what is wrong with which field", () => {
  const wrong = problemsOf(fields, { seat: "1", bags: "1.5", meal: false, class: "", extras: ["wifi", "lounge"] });
  expect(wrong).toEqual({ seat: "needs 2 characters or more", bags: "has to be a whole number", class: "is needed", extras: "takes 1 or fewer" });
  expect(problemsOf(fields, { ...startValues(fields), class: "biz" })).toEqual({});
});

it("reads a refusal's lines", () => {
  expect(problemsOfDetail(["seat: is needed", "no colon"])).toEqual({ seat: "is needed" });
});

it("shows a time by the person's clock, and sends it with its zone", () => {
  const at: FormField[] = [{ name: "at", type: "string", format: "date-time", default: "2026-07-28T09:30:00+02:00", max_length: 30, min_length: 20 }];
  const values = startValues(at);
  expect(values.at).toMatch(/^2026-07-2[78]T\d\d:\d\d$/);
  expect(problemsOf(at, values)).toEqual({});
  expect(contentOf(at, values)).toEqual({ at: "2026-07-28T07:30:00Z" });
  expect(contentOf(at, { at: "2026-11-28T10:00" }).at).toBe(new Date(2026, 10, 28, 10).toISOString().replace(".000Z", "Z"));
  expect(startValues([{ name: "at", type: "string", format: "date-time", default: "tomorrow" }]).at).toBe("");
});
