import type { Schemas } from "@/lib/api/client";

export type ImportPlan = Schemas["import"];
export type ImportItem = Schemas["importItem"];

export interface ConsentLine {
  verb: string; // what it does, in a word or two
  what: string; // to which thing
  note: string;
  item: ImportItem;
}

export interface ConsentGroup {
  title: string;
  /** whether it can reach beyond the chat's workspace */
  danger: boolean;
  lines: ConsentLine[];
}

function fieldOf(item: ImportItem, name: string): string {
  return item.fields?.find((f) => f.name === name)?.value ?? "";
}

/** first is what a row has room for. */
function first(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length > 160 ? line.slice(0, 159) + "…" : line;
}

function lineOf(item: ImportItem, plan: ImportPlan): ConsentLine {
  const is = (verb: string, what: string, note: string): ConsentLine => ({ verb, what, note, item });
  switch (item.kind) {
    case "server": {
      const command = fieldOf(item, "command");
      if (command) return is("starts", command, "an MCP server: a program on this machine, with the network");
      return is("connects", fieldOf(item, "url"), "an MCP server elsewhere");
    }
    case "network":
      return is("network", item.name, "");
    case "env":
      return is("reads env", item.name, plan.variables.some((v) => v.name === item.name && v.missing) ? "not set yet" : "is set");
    case "read":
      return is("reads", item.name, "outside of the workspace");
    case "requirement":
      return is("installs", item.name, "a Python package, at the first call");
    case "tool":
      return is("tool", fieldOf(item, "name") || item.name, [fieldOf(item, "requires_confirmation") && "asks before each call", fieldOf(item, "reach") && `may ${fieldOf(item, "reach")}`, first(fieldOf(item, "description"))].filter(Boolean).join(" · "));
    case "agent":
      return is("agent", fieldOf(item, "name") || item.name, first(fieldOf(item, "purpose")));
    case "workflow":
      return is("workflow", fieldOf(item, "name") || item.name, first(fieldOf(item, "description")));
    case "payload":
      return is("shows", item.name, fieldOf(item, "llm_instructions") ? "tells the model how to propose it" : "");
    case "page":
      return is("page", fieldOf(item, "name") || item.name, "");
    default:
      // A kind that this page doesn't know is no reason to hide it.
      return is(item.kind, item.name, "");
  }
}

const dangerous = new Set(["server", "network", "env", "read", "requirement"]);
const known: { kinds: string[]; title: string; danger: boolean }[] = [
  { kinds: [...dangerous], title: "Reaches beyond the chat’s workspace", danger: true },
  { kinds: ["tool"], title: "Tools", danger: false },
  { kinds: ["agent"], title: "Agents", danger: false },
  { kinds: ["workflow"], title: "Workflows", danger: false },
  { kinds: ["payload", "page"], title: "Payloads and pages", danger: false },
];

/** consentOf is what a bundle brings and wants, in a person's terms, the most dangerous first. */
export function consentOf(plan: ImportPlan): ConsentGroup[] {
  const named = new Set(known.flatMap((k) => k.kinds));
  const rest = { kinds: [] as string[], title: "Else", danger: true };
  return [...known, rest]
    .map(({ kinds, title, danger }) => ({
      title,
      danger,
      lines: plan.items.filter((i) => (kinds.length > 0 ? kinds.includes(i.kind) : !named.has(i.kind))).map((i) => lineOf(i, plan)),
    }))
    .filter((group) => group.lines.length > 0);
}

/** isBundle is whether a file can be a toolset, by its name. */
export function isBundle(name: string): boolean {
  return /\.(zip|tar\.gz|tgz)$/i.test(name);
}

/** mediaType is what the server is told that a bundle is. */
export function mediaType(name: string): string {
  return /\.zip$/i.test(name) ? "application/zip" : "application/gzip";
}

export interface Problem {
  place: string; // file:line:column
  level: string; // error or warning
  text: string;
}

const placed = /^(\S+?:\d+(?::\d+)?):\s*(?:(error|warning):\s*)?([\s\S]*)$/;

/** problemOf reads a line as the validator writes it; one of another form stays whole. */
export function problemOf(line: string): Problem {
  const match = placed.exec(line);
  return match ? { place: match[1] ?? "", level: match[2] ?? "", text: match[3] ?? "" } : { place: "", level: "", text: line };
}
