// Files that a person adds to a message, as turns take them.
import type { TurnRequest } from "@/lib/api/generalChatApi";
import type { Attachment } from "@/types/chat";

type TurnFile = NonNullable<TurnRequest["files"]>[number];
export type Files = Pick<TurnRequest, "files" | "images" | "uploads">;

// Text beyond this is put into the workspace, where the model reads of it what it needs.
const maxInline = 256 << 10;

const textTypes = /^(text\/|application\/(json|xml|javascript|x-sh|yaml|toml|sql))|\+(json|xml)$/;
const textNames = /\.(txt|md|csv|tsv|json|jsonl|ya?ml|toml|xml|html?|css|[cm]?[jt]sx?|py|go|rs|rb|java|kt|c|h|cc|cpp|hpp|cs|php|swift|sh|sql|ini|env|log|diff|patch)$/i;
const drawn = /^image\/(png|jpeg|gif|webp)$/;

/** kindOf is what becomes of a file: seen by the model, read by it, or put into the workspace. */
export function kindOf(file: { name: string; type: string; size: number }): "image" | "file" | "upload" {
  if (drawn.test(file.type)) return "image";
  if (file.size <= maxInline && (textTypes.test(file.type) || textNames.test(file.name))) return "file";
  return "upload";
}

/** filesOf reads files for a turn; uploads are there already. */
export async function filesOf(list: File[], uploads: TurnFile[] = []): Promise<Files> {
  const out: { files: TurnFile[]; images: TurnFile[]; uploads: TurnFile[] } = { files: [], images: [], uploads: [...uploads] };
  for (const file of list) {
    const one: TurnFile = { name: file.name, ...(file.type ? { mime: file.type } : {}), data: await base64(file) };
    out[`${kindOf(file)}s`].push(one);
  }
  return Object.fromEntries(Object.entries(out).filter(([, files]) => files.length > 0));
}

async function base64(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}

/** revoke lets go of the previews that attachmentsOf made. */
export function revoke(list: Attachment[]): void {
  for (const { preview } of list) if (preview?.startsWith("blob:")) URL.revokeObjectURL(preview);
}

/** attachmentsOf is how files look in the message that they were sent with. */
export function attachmentsOf(list: File[]): Attachment[] {
  return list.map((file) => ({
    name: file.name, mime: file.type || "application/octet-stream", size: file.size,
    ...(kindOf(file) === "image" ? { preview: URL.createObjectURL(file) } : {}),
  }));
}
