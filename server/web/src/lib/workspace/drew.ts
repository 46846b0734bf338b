// Whether a view shows anything of the data that it was given. A toolset's data may have
// any shape, and a view that reads none of it would look empty, or say so.

const mostLeaves = 400;
const comparedLength = 40;

function plain(text: string): string {
  return text.replace(/[_\s-]+/g, " ").trim().toLowerCase();
}

/** leaves are the texts and numbers of a value, as far as mostLeaves goes. */
function leaves(value: unknown, out: string[] = [], depth = 0): string[] {
  if (out.length >= mostLeaves || depth > 40) return out;
  if (typeof value === "string" && value.trim() !== "") out.push(plain(value.slice(0, comparedLength)));
  else if (typeof value === "number") out.push(String(value));
  else if (Array.isArray(value)) for (const v of value) leaves(v, out, depth + 1);
  else if (typeof value === "object" && value !== null) for (const v of Object.values(value)) leaves(v, out, depth + 1);
  return out;
}

/** drew reports whether a view's text contains any of the data; true where there are no data to show. */
export function drew(text: string, data: unknown): boolean {
  const all = leaves(data);
  if (all.length === 0) return true;
  const seen = plain(text);
  const digits = seen.replace(/[,.\s]/g, "");
  return all.some((leaf) => seen.includes(leaf) || (/^\d/.test(leaf) && digits.includes(leaf.replace(/[,.]/g, ""))));
}
