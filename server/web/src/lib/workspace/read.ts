// Data of tools and models may be anything. These read it as what a view needs,
// so that a view shows what is right of it and never breaks on the rest.

import type { Fields } from "@/lib/record";

export { record as fields, type Fields } from "@/lib/record";

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** records are the objects of a list. */
export function records(value: unknown): Fields[] {
  return list(value).filter((v) => typeof v === "object" && v !== null && !Array.isArray(v)) as Fields[];
}

/** No label, name or sentence of a view is longer. */
export const longest = 4_000;

/** text is a value as one reads it; "" where there is nothing to read. */
export function text(value: unknown, most = longest): string {
  const whole = typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? String(value) : "";
  return cut(whole, most);
}

/** cut shortens a text, never in the midst of a character. */
export function cut(value: string, most: number): string {
  if (value.length <= most) return value;
  const end = value.charCodeAt(most - 1);
  return value.slice(0, end >= 0xd800 && end <= 0xdbff ? most - 1 : most) + "…";
}

/** texts are the entries of a list that can be read; one text stands for a list of one. */
export function texts(value: unknown): string[] {
  const all = typeof value === "string" ? [value] : list(value);
  return all.map((v) => text(v)).filter((v) => v !== "");
}

/** number is a finite number, also where it was written as a text. */
export function number(value: unknown): number | undefined {
  if (typeof value === "string" && value.trim() !== "") value = Number(value);
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** own is what a record has under a name, and nothing that every object has: a type may be called "constructor". */
export function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** share is a number from 0 to 1. */
export function share(value: unknown): number | undefined {
  const n = number(value);
  return n === undefined ? undefined : Math.min(1, Math.max(0, n));
}

/** address is a link that may be followed: nothing but the web's. */
export function address(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > 2_048) return undefined;
  try {
    const url = new URL(value);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** words makes a name of a program one that is read: "inclusion_criteria" is "Inclusion criteria". */
export function words(name: string): string {
  const spaced = name.replace(/[_-]+/g, " ").trim();
  return cut(spaced.charAt(0).toUpperCase() + spaced.slice(1), 200);
}

/** decimal is a number as it is shown: at most so many digits behind the point. */
export function decimal(value: number | undefined, digits = 1): string {
  return value === undefined ? "–" : value.toLocaleString(undefined, { maximumFractionDigits: digits });
}

/** pretty is any value as text; one that is too large for a page is cut. */
export function pretty(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value, null, 2) ?? "";
  } catch {
    return String(value);
  }
}
