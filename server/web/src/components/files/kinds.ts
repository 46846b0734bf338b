// What can be done with a file, by its name and its first bytes.

const images: Record<string, string> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  bmp: "image/bmp",
  ico: "image/x-icon",
  svg: "image/svg+xml",
};

export function extension(path: string): string {
  const name = baseName(path);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : "";
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function folderOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "" : path.slice(0, slash);
}

/** imageType is the type to show a file by as an image; an <img> runs no script of an SVG. */
export function imageType(path: string): string | undefined {
  return images[extension(path)];
}

export function isMarkdown(path: string): boolean {
  return ["md", "markdown", "mdx"].includes(extension(path));
}

/**
 * textOf is bytes as text, or null where they are none. Of a file's part the last
 * character may be cut.
 */
export function textOf(bytes: Uint8Array, whole: boolean): string | null {
  if (bytes.subarray(0, 64 << 10).includes(0)) return null;
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return decoder.decode(bytes, { stream: !whole });
  } catch {
    return null;
  }
}

/** hexLines are the first bytes as hexdump -C shows them. */
export function hexLines(bytes: Uint8Array, most = 512): string[] {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, most); at += 16) {
    const row = bytes.subarray(at, at + 16);
    const hex = Array.from(row, (b) => b.toString(16).padStart(2, "0")).join(" ");
    const text = Array.from(row, (b) => (b >= 0x20 && b < 0x7f ? String.fromCharCode(b) : ".")).join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${hex.padEnd(47)}  ${text}`);
  }
  return lines;
}
