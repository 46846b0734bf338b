// What a change of a file is, in words: renames, modes, links and what isn't kept.
import type { FileChange, FileInfo, WorkspaceState } from "./workspaceApi";

export interface ShownChange {
  path: string;
  kind: "added" | "modified" | "removed" | "renamed";
  from?: string; // of a rename
  old?: FileInfo;
  new?: FileInfo;
  /** what differs beside the content */
  notes: string[];
  /** its content differs, and is that of a file on both sides */
  content: boolean;
}

/** canRedo reports whether redo finds something: undone steps, or an undo of one call after which nothing else was changed. states are the latest first. */
export function canRedo(states: Pick<WorkspaceState, "id" | "source" | "source_ref" | "parent_id" | "active" | "undone">[]): boolean {
  if (states.some((s) => s.undone)) return true;
  const byId = new Map(states.map((s) => [s.id, s]));
  const alone = (id?: string) => {
    const s = byId.get(id ?? "");
    return s?.source === "restored" && s.source_ref?.startsWith("-") ? s : undefined;
  };
  const reverted = new Set<string>();
  for (let s = alone(states.find((st) => st.active)?.id); s; s = alone(s.parent_id)) {
    if (reverted.has(s.id)) continue;
    const of = (s.source_ref ?? "").slice(1).replace(/\^$/, "");
    if (!alone(of)) return true;
    reverted.add(of);
  }
  return false;
}

const isFile = (f?: FileInfo) => f !== undefined && (f.kind === "file" || f.kind === "executable");

/** shownChanges joins a removed and an added file with the same content to a rename. */
export function shownChanges(changes: FileChange[]): ShownChange[] {
  const removed = new Map<string, FileChange[]>();
  for (const c of changes) {
    if (c.change === "removed" && isFile(c.old) && c.old?.sha256 && c.old.size > 0) {
      removed.set(c.old.sha256, [...(removed.get(c.old.sha256) ?? []), c]);
    }
  }
  const moved = new Map<string, FileChange>(); // by the new path
  const gone = new Set<string>();
  for (const c of changes) {
    if (c.change !== "added" || !isFile(c.new) || !c.new?.sha256) continue;
    const from = removed.get(c.new.sha256)?.shift();
    if (!from) continue;
    moved.set(c.path, from);
    gone.add(from.path);
  }
  const out: ShownChange[] = [];
  for (const [i, c] of changes.entries()) {
    if (gone.has(c.path)) continue;
    // A folder that came or went with what is in it is told by that. Paths are sorted.
    if ((c.new ?? c.old)?.kind === "folder" && changes[i + 1]?.path.startsWith(c.path + "/")) continue;
    const from = moved.get(c.path);
    const old = from?.old ?? c.old;
    out.push({
      path: c.path,
      kind: from ? "renamed" : (c.change as ShownChange["kind"]),
      from: from?.path,
      old,
      new: c.new,
      notes: notesOf(old, c.new),
      content: !from && (isFile(old) || !old) && (isFile(c.new) || !c.new) && old?.sha256 !== c.new?.sha256,
    });
  }
  return out;
}

function notesOf(old?: FileInfo, now?: FileInfo): string[] {
  const notes: string[] = [];
  if (old && now && old.kind !== now.kind) notes.push(kindNote(old.kind, now.kind));
  if (!old && now?.kind === "executable") notes.push("executable");
  for (const f of [old, now]) {
    if (f?.kind === "link") notes.push(f === old && now ? `led to ${f.target ?? ""}` : `leads to ${f.target ?? ""}`);
    else if (f && !isFile(f) && f.kind !== "folder") notes.push(f.reason ? `not kept: ${f.reason}` : `${f.kind}, not kept`);
    else if (f?.kind === "folder") notes.push("a folder");
  }
  return [...new Set(notes)];
}

function kindNote(old: string, now: string): string {
  if (old === "file" && now === "executable") return "made executable";
  if (old === "executable" && now === "file") return "no longer executable";
  return `${old} became ${now}`;
}

/** stat counts changes by their kind: "2 added, 1 modified". */
export function stat(changes: ShownChange[]): string {
  const kinds = ["added", "modified", "renamed", "removed"] as const;
  const parts = kinds.flatMap((kind) => {
    const n = changes.filter((c) => c.kind === kind).length;
    return n > 0 ? [`${n.toLocaleString("en")} ${kind}`] : [];
  });
  return parts.join(", ") || "Nothing differs";
}
