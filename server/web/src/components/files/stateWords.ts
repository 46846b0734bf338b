import type { Branch, WorkspaceState } from "./workspaceApi";

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
  restore: "Restored",
  import: "Imported",
};

// The arguments that tell one call from another, the most telling first.
const telling = ["path", "file", "filename", "command", "query", "url", "name", "title"];

export function stateWords(state: WorkspaceState): StateWords {
  if (state.source === "tool_run") return { what: (state.tool?.split(":").pop() ?? "A tool") + byPage(state.by), detail: argument(state.args) };
  if (!state.parent_id && state.source === "external") return { what: "As it was found", detail: "" };
  if (state.source === "restore" && state.source_ref?.startsWith("-")) return { what: "Undid one call", detail: "" };
  const paths = state.changes?.paths ?? [];
  const one = paths.length === 1 ? paths[0] : undefined;
  if (state.source === "edit" && one) return { what: { added: "Made", removed: "Deleted" }[one.kind] ?? "Edited", detail: one.path };
  const isRename = paths.length === 2 && paths.some((p) => p.kind === "added") && paths.some((p) => p.kind === "removed");
  if (state.source === "edit" && isRename) return { what: "Renamed", detail: paths.map((p) => p.path).join(", ") };
  return { what: sources[state.source] ?? state.source, detail: "" };
}

/** byPage says of a call that the page of a tool made it. */
function byPage(tool: string | undefined): string {
  return tool ? `, by the page of ${tool.split(":").pop()}` : "";
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

export interface Count {
  sign: "+" | "~" | "−" | "";
  n: number;
  word: string;
}

/** counts is what a state changed: "+2 ~1 −3"; of many that aren't all listed, how many. */
export function counts(changes: WorkspaceState["changes"]): Count[] {
  if (!changes) return [];
  if (changes.changed > changes.paths.length) return [{ sign: "", n: changes.changed, word: "changed" }];
  const of = (kind: string) => changes.paths.filter((p) => p.kind === kind).length;
  const all: Count[] = [
    { sign: "+", n: of("added"), word: "added" },
    { sign: "~", n: of("modified"), word: "modified" },
    { sign: "−", n: of("removed"), word: "removed" },
  ];
  return all.filter((c) => c.n > 0);
}

/** said names a state in a sentence. */
export function said(state: WorkspaceState): string {
  const { what, detail } = stateWords(state);
  const short = detail.length > 40 ? detail.slice(0, 39) + "…" : detail;
  return short ? `${what} ${short}` : what.charAt(0).toLowerCase() + what.slice(1);
}

/** branchName is what a branch is called: by the question that it began with. */
export function branchName(branch: Branch): string {
  return branch.title ? `“${branch.title}”` : `number ${branch.number}`;
}
