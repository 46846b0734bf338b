// What can be done with a file, by its name and its first bytes.

const images = ["png", "jpg", "jpeg", "gif", "webp", "avif", "bmp", "ico", "svg"];

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

/** looksLikeImage is what a name says; what the content is, `sniff` tells. */
export function looksLikeImage(path: string): boolean {
  return images.includes(extension(path));
}

/** isSvg is for texts: an image that is written by hand, too. An <img> runs no script of it. */
export function isSvg(path: string): boolean {
  return extension(path) === "svg";
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

/** Found is what a browser can make of a content, and the type to give it. */
export interface Found {
  kind: "image" | "audio" | "video" | "pdf";
  type: string;
}

/** sniff tells by its first bytes what a binary is; its name decides only where they leave two. */
export function sniff(bytes: Uint8Array, path: string): Found | null {
  const head = Array.from(bytes.subarray(0, 16), (b) => String.fromCharCode(b)).join("");
  const named = (...names: string[]) => names.includes(extension(path));
  for (const [begins, found] of signatures) if (head.startsWith(begins)) return found;
  if (head.startsWith("RIFF")) return { WEBP: image("webp"), WAVE: audio("wav") }[head.slice(8, 12)] ?? null;
  if (head.slice(4, 8) === "ftyp") return container(head.slice(8, 12));
  if (head.startsWith("OggS")) return named("ogv") ? video("ogg") : audio("ogg");
  // Two bytes are no proof, so the name has to say it too.
  if (head.startsWith("BM") && named("bmp")) return image("bmp");
  if (head.startsWith("\0\0\u0001\0") && named("ico")) return image("x-icon");
  if (/^\u00ff[\u00e0-\u00ff]/.test(head) && named("mp3")) return audio("mpeg");
  return null;
}

const image = (type: string): Found => ({ kind: "image", type: `image/${type}` });
const audio = (type: string): Found => ({ kind: "audio", type: `audio/${type}` });
const video = (type: string): Found => ({ kind: "video", type: `video/${type}` });

const signatures: [string, Found][] = [
  ["\u0089PNG\r\n\u001a\n", image("png")],
  ["\u00ff\u00d8\u00ff", image("jpeg")],
  ["GIF87a", image("gif")],
  ["GIF89a", image("gif")],
  ["%PDF-", { kind: "pdf", type: "application/pdf" }],
  ["ID3", audio("mpeg")],
  ["fLaC", audio("flac")],
  ["\u001aE\u00df\u00a3", video("webm")],
];

/** container is what the brand of an ISO file says. */
function container(brand: string): Found {
  if (brand === "avif" || brand === "avis") return image("avif");
  if (brand.startsWith("M4A") || brand.startsWith("M4B")) return audio("mp4");
  return video("mp4");
}
