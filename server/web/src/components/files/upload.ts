/** Upload is a file that a person chose or dropped, and where it goes. */
export interface Upload {
  path: string;
  file: File;
}

/** chosen are the files of an <input>; a folder's have their path in it. */
export function chosen(files: FileList, folder: string): Upload[] {
  return Array.from(files, (file) => ({ path: join(folder, file.webkitRelativePath || file.name), file }));
}

/** dropped are the files of a drop, and those in dropped folders. */
export async function dropped(items: DataTransferItemList, folder: string): Promise<Upload[]> {
  // All have to be taken before the first wait: the list is empty after it. What has no entry is a file by itself.
  const taken = Array.from(items, (item) => (item.kind === "file" ? { entry: item.webkitGetAsEntry(), file: item.getAsFile() } : null));
  const out: Upload[] = [];
  for (const item of taken) {
    if (item?.entry) await walk(item.entry, folder, out);
    else if (item?.file) out.push({ path: join(folder, item.file.name), file: item.file });
  }
  return out;
}

async function walk(entry: FileSystemEntry, folder: string, out: Upload[]): Promise<void> {
  const path = join(folder, entry.name);
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    out.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // A reader gives its entries in parts, and an empty one at the end.
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return;
    for (const child of part) await walk(child, path, out);
  }
}

export function join(folder: string, name: string): string {
  return folder ? `${folder}/${name}` : name;
}

/** problemOf is why a name can't be a path of the workspace, or "". */
export function problemOf(path: string, taken: ReadonlySet<string>): string {
  const parts = path.split("/");
  if (path === "") return "A name is needed";
  if (path.startsWith("/") || parts.some((part) => part === "" || part === "." || part === "..")) return "It has to be a path inside the workspace, such as notes/today.md";
  if (parts.includes(".git")) return ".git is left alone";
  if (taken.has(path)) return `${path} is there already`;
  return "";
}
