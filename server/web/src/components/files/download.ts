import { tellFault } from "@/components/ui/Toasts";
import { baseName } from "./kinds";
import { readBlob, type FileState } from "./workspaceApi";

/** saveBlob gives a blob to the browser's downloads. */
export function saveBlob(blob: Blob, name: string) {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has to have begun.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** download fetches a file with the token, which a plain link could not send. */
export async function download(chatId: string, path: string, state: FileState = {}): Promise<void> {
  try {
    saveBlob(await readBlob(chatId, path, state), baseName(path));
  } catch (error) {
    tellFault(`${path} was not downloaded`, error);
  }
}
