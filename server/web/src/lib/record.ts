export type Fields = Record<string, unknown>;

/** record is a value as an object; one without fields where it is something else. */
export function record(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
