import type { WorkspaceState } from "./workspaceApi";

/** StateWords is what made a state, in words. */
export interface StateWords {
  what: string;
  /** the argument that matters, or the file */
  detail: string;
}

const sources: Record<string, string> = {
  user_upload: "Files of a message",
  branch: "Another branch",
  edit: "Edited",
  external: "Changed outside of fettle",
  interrupted: "Found after an interruption",
  restore: "Brought back",
  import: "Imported",
};

// The arguments that tell one call from another, the most telling first.
const telling = ["path", "file", "filename", "command", "query", "url", "name", "title"];

export function stateWords(state: WorkspaceState): StateWords {
  if (state.source === "tool_run") return { what: state.tool?.split(":").pop() ?? "A tool", detail: argument(state.args) };
  if (!state.parent_id && state.source === "external") return { what: "As it was found", detail: "" };
  const paths = state.changes?.paths ?? [];
  const one = paths.length === 1 ? paths[0] : undefined;
  if (state.source === "edit" && one) return { what: { added: "Made", removed: "Deleted" }[one.kind] ?? "Edited", detail: one.path };
  if (state.source === "edit" && state.changes && state.changes.removed > 0 && state.changes.added === state.changes.removed)
    return { what: "Renamed", detail: paths.map((p) => p.path).join(", ") };
  return { what: sources[state.source] ?? state.source, detail: "" };
}

function argument(args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  const all = new Map(Object.entries(args));
  for (const name of telling) {
    const value = all.get(name);
    if (typeof value === "string" && value) return value;
  }
  for (const value of all.values()) if (typeof value === "string" && value) return value;
  return "";
}

/** counts is what a state changed: "+2 ~1 −3". */
export function counts(changes: WorkspaceState["changes"]): { sign: "+" | "~" | "−"; n: number; word: string }[] {
  if (!changes) return [];
  return [
    { sign: "+" as const, n: changes.added, word: "added" },
    { sign: "~" as const, n: changes.modified, word: "modified" },
    { sign: "−" as const, n: changes.removed, word: "removed" },
  ].filter((c) => c.n > 0);
}
