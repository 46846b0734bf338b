// The argument of a tool call that says what it is about.

const first = ["query", "command", "path", "url", "pattern", "file", "filename", "name", "title", "message", "text", "question"];

/** argument gives it as one line; "" where a call has none. */
export function argument(input: Record<string, unknown>): string {
  for (const key of first) {
    const value = input[key];
    if (typeof value === "string" && value) return line(value);
  }
  for (const value of Object.values(input)) if (typeof value === "string" && value) return line(value);
  const [entry] = Object.entries(input);
  return entry ? line(`${entry[0]}: ${JSON.stringify(entry[1])}`) : "";
}

function line(text: string): string {
  const one = text.slice(0, 500).replace(/\s+/g, " ").trim();
  return one.length > 200 ? one.slice(0, 199) + "…" : one;
}
