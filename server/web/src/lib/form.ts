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
  return f.default === undefined || f.default === null ? "" : String(f.default);
}

/** contentOf is what is sent: fields that are left empty aren't there. */
export function contentOf(fields: FormField[], values: FormValues): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const f of fields) {
    const value = values[f.name];
    if (value === undefined || value === "") continue;
    out[f.name] = (f.type === "integer" || f.type === "number") && typeof value === "string" ? Number(value) : value;
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
