export interface Input {
  name: string;
  type: string;
  required: boolean;
  description: string;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** typeText is a schema's type in a few words. */
function typeText(schema: unknown): string {
  if (!isRecord(schema)) return "anything";
  if (Array.isArray(schema.enum)) return schema.enum.map((v) => JSON.stringify(v)).join(" | ");
  if (schema.type === "array") return `list of ${typeText(schema.items)}`;
  if (Array.isArray(schema.type)) return schema.type.map(String).join(" or ");
  if (typeof schema.type === "string") return schema.type;
  return "anything";
}

/** inputsOf lists what a tool takes; a schema comes from a toolset, and may be of any form. */
export function inputsOf(schema: unknown): Input[] {
  if (!isRecord(schema) || !isRecord(schema.properties)) return [];
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    type: typeText(property),
    required: required.includes(name),
    description: isRecord(property) && typeof property.description === "string" ? property.description : "",
  }));
}
