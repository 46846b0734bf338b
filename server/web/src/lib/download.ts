/** download saves a text as a file, without asking any server. */
export function download(name: string, content: string, mime = "text/plain") {
  const url = URL.createObjectURL(new Blob([content], { type: `${mime};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
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
