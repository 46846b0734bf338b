// A JSON schema of an object as the fields of a form, and what was typed into
// them as the object. The server checks it all again: this only spares the way.
import { record, type Fields } from "@/lib/record";

export interface Field {
  name: string;
  label: string;
  about: string;
  kind: "text" | "long" | "integer" | "number" | "boolean" | "choice" | "choices" | "lines" | "json";
  required: boolean;
  options: { value: unknown; label: string }[];
  initial: FieldValue;
  schema: Record<string, unknown>;
}

/** what an input holds; choices are the places of its options */
export type FieldValue = string | boolean | number[];
export type FormValues = Record<string, FieldValue>;

function words(name: string): string {
  const spaced = name.replace(/[_-]+/g, " ").trim();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

/** fieldsOf are the fields of a schema's object; a schema that isn't one has a single field for JSON. */
export function fieldsOf(schema: unknown, given: Fields = {}): Field[] {
  const root = record(schema);
  const required = new Set(Array.isArray(root.required) ? root.required : []);
  return Object.entries(record(root.properties)).map(([name, value]) => field(name, resolve(root, record(value)), required.has(name), given[name]));
}

// References within the schema are followed; a few times, for they may go in a circle.
function resolve(root: Fields, schema: Fields, depth = 0): Fields {
  const ref = schema.$ref;
  if (typeof ref !== "string" || !ref.startsWith("#/") || depth > 8) return schema;
  let at: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = Object.hasOwn(record(at), key) ? record(at)[key] : undefined;
  }
  return { ...resolve(root, record(at), depth + 1), ...schema };
}

function typeOf(schema: Fields): string {
  const type = Array.isArray(schema.type) ? schema.type.find((t) => t !== "null") : schema.type;
  return typeof type === "string" ? type : "";
}

function optionsOf(schema: Fields): Field["options"] {
  if (Array.isArray(schema.enum)) return schema.enum.filter((v) => v !== null).map((value) => ({ value, label: String(value) }));
  const all = Array.isArray(schema.oneOf) ? schema.oneOf : [];
  if (all.length > 0 && all.every((o) => "const" in record(o))) return all.map((o) => ({ value: record(o).const, label: String(record(o).title ?? record(o).const) }));
  return [];
}

function field(name: string, schema: Fields, required: boolean, given: unknown): Field {
  const type = typeOf(schema);
  const items = record(schema.items);
  const own = optionsOf(schema);
  const each = optionsOf(items);
  const kind = kindOf(type, own, each, items, schema);
  const options = kind === "choices" ? each : own;
  const start = given ?? schema.default;
  return {
    name,
    label: typeof schema.title === "string" && schema.title ? schema.title : words(name),
    about: typeof schema.description === "string" ? schema.description : "",
    kind,
    required,
    options,
    initial: initialOf(kind, start, options),
    schema,
  };
}

function kindOf(type: string, own: Field["options"], each: Field["options"], items: Fields, schema: Fields): Field["kind"] {
  if (own.length > 0) return "choice";
  if (type === "boolean" || type === "integer" || type === "number") return type;
  if (type === "string") return Number(schema.maxLength ?? 0) > 400 ? "long" : "text";
  if (type === "array" && each.length > 0) return "choices";
  if (type === "array" && typeOf(items) === "string") return "lines";
  return "json";
}

function initialOf(kind: Field["kind"], start: unknown, options: Field["options"]): FieldValue {
  switch (kind) {
    case "boolean":
      return start === true;
    case "choice": {
      const i = options.findIndex((o) => o.value === start);
      return i < 0 ? "" : String(i);
    }
    case "choices":
      return Array.isArray(start) ? options.flatMap((o, i) => (start.includes(o.value) ? [i] : [])) : [];
    case "lines":
      return Array.isArray(start) ? start.map(String).join("\n") : "";
    case "json":
      return start === undefined ? "" : JSON.stringify(start, null, 2);
    default:
      return start === undefined || start === null ? "" : String(start);
  }
}

export function initialValues(fields: Field[]): FormValues {
  return Object.fromEntries(fields.map((f) => [f.name, f.initial]));
}

/** readForm is the object that was typed in, or what is wrong, by field. */
export function readForm(fields: Field[], values: FormValues): { value: Fields; errors: Record<string, string> } {
  const value: Fields = {};
  const errors: Record<string, string> = {};
  for (const f of fields) {
    const read = readField(f, values[f.name] ?? f.initial);
    if (read.error) errors[f.name] = read.error;
    else if (read.value !== undefined) value[f.name] = read.value;
  }
  return { value, errors };
}

interface Read {
  value?: unknown;
  error?: string;
}

function readField(f: Field, raw: FieldValue): Read {
  if (f.kind === "boolean") return { value: raw === true };
  if (f.kind === "choices") return readChoices(f, Array.isArray(raw) ? raw : []);
  const typed = typeof raw === "string" ? raw : "";
  if (typed.trim() === "") return f.required ? { error: "This is needed." } : {};
  switch (f.kind) {
    case "choice":
      return { value: f.options[Number(typed)]?.value };
    case "integer":
    case "number":
      return readNumber(f, typed);
    case "lines":
      return readLines(f, typed);
    case "json":
      return readJson(typed, typeOf(f.schema));
    default:
      return readText(f, typed);
  }
}

function readText({ schema }: Field, typed: string): Read {
  const length = [...typed].length;
  if (typeof schema.minLength === "number" && length < schema.minLength) return { error: `At least ${schema.minLength} characters are needed.` };
  if (typeof schema.maxLength === "number" && length > schema.maxLength) return { error: `At most ${schema.maxLength} characters fit; these are ${length}.` };
  if (typeof schema.pattern === "string" && schema.pattern.length < 500 && !matches(schema.pattern, typed)) return { error: `It has to match ${schema.pattern}` };
  return { value: typed };
}

function matches(pattern: string, typed: string): boolean {
  // A pattern of a stranger's may take for ever on a long text; the server's can't.
  if (typed.length > 200) return true;
  try {
    return new RegExp(pattern, "u").test(typed);
  } catch {
    return true;
  }
}

function readNumber({ kind, schema }: Field, typed: string): Read {
  const n = Number(typed.trim().replace(",", "."));
  if (!Number.isFinite(n)) return { error: "This is no number." };
  if (kind === "integer" && !Number.isInteger(n)) return { error: "A whole number is needed." };
  if (typeof schema.minimum === "number" && n < schema.minimum) return { error: `It has to be ${schema.minimum} or more.` };
  if (typeof schema.maximum === "number" && n > schema.maximum) return { error: `It has to be ${schema.maximum} or less.` };
  return { value: n };
}

function count(schema: Fields, n: number, what: string): string | undefined {
  if (typeof schema.minItems === "number" && n < schema.minItems) return `At least ${schema.minItems} ${what} needed.`;
  if (typeof schema.maxItems === "number" && n > schema.maxItems) return `At most ${schema.maxItems} fit; these are ${n}.`;
  return undefined;
}

function readLines({ schema }: Field, typed: string): Read {
  const lines = typed.split("\n").map((l) => l.trim()).filter(Boolean);
  const error = count(schema, lines.length, "lines are");
  return error ? { error } : { value: lines };
}

function readChoices(f: Field, picked: number[]): Read {
  if (picked.length === 0) return f.required ? { error: "Choose at least one." } : {};
  const error = count(f.schema, picked.length, "have to be");
  return error ? { error } : { value: picked.map((i) => f.options[i]?.value) };
}

function readJson(typed: string, type: string): Read {
  try {
    const value: unknown = JSON.parse(typed);
    const is = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
    if ((type === "object" || type === "array") && is !== type) return { error: type === "array" ? "A list is needed: [ … ]" : "An object is needed: { … }" };
    return { value };
  } catch (error) {
    return { error: `This is no JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}
