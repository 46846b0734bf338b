// What a person fills in for an MCP server, and what is sent of it.
import type { FormField } from "@/types/chat";

export type FormValues = Record<string, string | boolean | string[]>;

/** startValues are a form's defaults, as its fields hold them. */
export function startValues(fields: FormField[]): FormValues {
  return Object.fromEntries(fields.map((f) => [f.name, startValue(f)]));
}

function startValue(f: FormField): string | boolean | string[] {
  if (f.type === "boolean") return f.default === true;
  if (f.type === "choices") return Array.isArray(f.default) ? f.default.map(String) : [];
  if (f.default === undefined || f.default === null) return "";
  return isTime(f) ? localTime(String(f.default)) : String(f.default);
}

function isTime(f: FormField): boolean {
  return f.type === "string" && f.format === "date-time";
}

/** localTime is a time with its zone as a person's clock shows it, in the form of their input; what is no time stays away. */
function localTime(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return "";
  const two = (n: number) => String(n).padStart(2, "0");
  const date = `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}${at.getSeconds() ? `:${two(at.getSeconds())}` : ""}`;
}

/** zoned is such a time as it is sent: RFC 3339, which has a zone. */
function zoned(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toISOString().replace(".000Z", "Z");
}

/** contentOf is what is sent: fields that are left empty aren't there. */
export function contentOf(fields: FormField[], values: FormValues): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const f of fields) {
    const value = values[f.name];
    if (value === undefined || value === "") continue;
    if (isTime(f) && typeof value === "string") out[f.name] = zoned(value);
    else out[f.name] = (f.type === "integer" || f.type === "number") && typeof value === "string" ? Number(value) : value;
  }
  return out;
}

/** problemsOf is what is wrong with each field, in the server's words where it has some: "is needed". */
export function problemsOf(fields: FormField[], values: FormValues): Record<string, string> {
  const out: Record<string, string> = {};
  for (const f of fields) {
    const problem = problemOf(f, values[f.name]);
    if (problem) out[f.name] = problem;
  }
  return out;
}

function problemOf(f: FormField, value: FormValues[string] | undefined): string {
  if (f.type === "choices") {
    const n = Array.isArray(value) ? value.length : 0;
    if (f.required && n === 0) return "is needed";
    if (n > 0 && f.min_items !== undefined && n < f.min_items) return `needs ${f.min_items} or more`;
    if (f.max_items !== undefined && n > f.max_items) return `takes ${f.max_items} or fewer`;
    return "";
  }
  if (f.type === "boolean") return "";
  const text = typeof value === "string" ? value : "";
  if (text === "") return f.required ? "is needed" : "";
  if (f.type === "integer" || f.type === "number") {
    const n = Number(text);
    if (!Number.isFinite(n)) return "has to be a number";
    if (f.type === "integer" && !Number.isInteger(n)) return "has to be a whole number";
    if (f.minimum !== undefined && n < f.minimum) return `can't be less than ${f.minimum}`;
    if (f.maximum !== undefined && n > f.maximum) return `can't be more than ${f.maximum}`;
  }
  if (isTime(f)) return ""; // its length is the server's form's, not the field's
  const length = [...text].length;
  if (f.min_length !== undefined && length < f.min_length) return `needs ${f.min_length} characters or more`;
  if (f.max_length !== undefined && length > f.max_length) return `takes ${f.max_length} characters or fewer`;
  return "";
}

/** problemsOfDetail reads a refusal's lines: "seat: is needed". */
export function problemsOfDetail(detail: string[]): Record<string, string> {
  return Object.fromEntries(detail.flatMap((line) => {
    const colon = line.indexOf(": ");
    return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 2)]] : [];
  }));
}
