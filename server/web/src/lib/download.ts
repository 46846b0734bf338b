/** saveBlob gives a blob to the browser's downloads. */
export function saveBlob(blob: Blob, name: string) {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser takes it after this task; a minute is long enough for it to begin.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** download saves a text as a file, without asking any server. */
export function download(name: string, content: string, mime = "text/plain") {
  saveBlob(new Blob([content], { type: `${mime};charset=utf-8` }), name);
}

/** fileName makes a title the name of a file. */
export function fileName(title: string, ending: string): string {
  const base = title
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}._ -]+/gu, " ")
    .replace(/\s+/g, " ")
    .replace(/^[. ]+|[. ]+$/g, "")
    .slice(0, 80)
    .trim();
  return `${base || "result"}.${ending}`;
}
