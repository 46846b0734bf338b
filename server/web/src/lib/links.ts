/** decoded is a part of an address as it is meant; one that is encoded wrongly is left as it stands. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** pathFrom is the workspace's path to which a relative link of a file leads; null where it leads out of it. */
export function pathFrom(file: string, href: string): string | null {
  const way = decoded(href.replace(/[?#].*$/, ""));
  if (way === "") return null;
  const parts = way.startsWith("/") ? [] : file.split("/").slice(0, -1);
  for (const part of way.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return null;
  }
  return parts.length > 0 ? parts.join("/") : null;
}
