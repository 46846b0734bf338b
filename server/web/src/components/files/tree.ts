// The tree of a state's paths, and its rows as they are seen: pure, so that twenty
// thousand files can be tested without a page.
import { baseName } from "./kinds";

export interface TreeFile {
  path: string;
  kind: string;
  size: number;
  sha256?: string;
  target?: string;
  reason?: string;
}

export type Mark = "added" | "modified" | "removed";

export interface TreeNode {
  path: string;
  name: string;
  folder: boolean;
  file?: TreeFile; // none for a folder that only its files tell of
  children: TreeNode[];
  files: number; // below, for a folder
  size: number; // of all below
  mark?: Mark;
  changed: number; // marked ones below
}

function node(path: string, folder: boolean): TreeNode {
  return { path, name: baseName(path), folder, children: [], files: 0, size: 0, changed: 0 };
}

// Names are compared as people read them: "page 2" before "page 10".
const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/** buildTree makes the tree. What was removed stands in it too, marked. */
export function buildTree(files: TreeFile[], marks: Map<string, Mark> = new Map(), gone: TreeFile[] = []): TreeNode {
  const root = node("", true);
  const folders = new Map<string, TreeNode>([["", root]]);
  const folderAt = (path: string): TreeNode => {
    const known = folders.get(path);
    if (known) return known;
    const made = node(path, true);
    folders.set(path, made);
    folderAt(path.slice(0, Math.max(0, path.lastIndexOf("/")))).children.push(made);
    return made;
  };
  for (const file of [...files, ...gone]) {
    if (file.kind === "folder") {
      folderAt(file.path).file = file;
      continue;
    }
    const leaf = node(file.path, false);
    leaf.file = file;
    leaf.size = file.size;
    leaf.mark = marks.get(file.path);
    folderAt(file.path.slice(0, Math.max(0, file.path.lastIndexOf("/")))).children.push(leaf);
  }
  sum(root);
  return root;
}

function sum(folder: TreeNode) {
  for (const child of folder.children) {
    if (child.folder) sum(child);
    folder.files += child.folder ? child.files : child.mark === "removed" ? 0 : 1;
    folder.size += child.mark === "removed" ? 0 : child.size;
    folder.changed += child.folder ? child.changed : child.mark ? 1 : 0;
  }
  folder.children.sort((a, b) => Number(b.folder) - Number(a.folder) || order.compare(a.name, b.name) || (a.name < b.name ? -1 : 1));
}

export interface Row {
  node: TreeNode;
  level: number; // from 1
  open: boolean;
  place: number; // among its siblings, from 1
  siblings: number;
}

/** rowsOf are the rows that are seen: those below open folders. With a filter, what matches it and the folders above. */
export function rowsOf(root: TreeNode, open: ReadonlySet<string>, filter = ""): Row[] {
  const rows: Row[] = [];
  const wanted = filter.trim().toLowerCase();
  const matches = (n: TreeNode): boolean =>
    n.path.toLowerCase().includes(wanted) || (n.folder && n.children.some(matches));
  const walk = (folder: TreeNode, level: number, all: boolean) => {
    const shown = wanted && !all ? folder.children.filter(matches) : folder.children;
    shown.forEach((child, i) => {
      const itself = all || child.path.toLowerCase().includes(wanted);
      // A folder that matches by its own name alone stays as it is.
      const isOpen = child.folder && (wanted && !itself ? true : open.has(child.path));
      rows.push({ node: child, level, open: isOpen, place: i + 1, siblings: shown.length });
      if (isOpen) walk(child, level + 1, itself && wanted !== "");
    });
  };
  walk(root, 1, false);
  return rows;
}

/** openAtFirst are the folders that a first look opens: all of a few, none of many. */
export function openAtFirst(root: TreeNode, most = 60): Set<string> {
  const open = new Set<string>();
  if (root.files > most) return open;
  const walk = (folder: TreeNode) => {
    for (const child of folder.children) {
      if (!child.folder) continue;
      open.add(child.path);
      walk(child);
    }
  };
  walk(root);
  return open;
}

/** above are the folders that a path is in, the outermost first. */
export function above(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, i) => parts.slice(0, i + 1).join("/"));
}
