import { tellFault } from "@/components/ui/Toasts";
import { saveBlob } from "@/lib/download";
import { baseName } from "./kinds";
import { readBlob, type FileState } from "./workspaceApi";

/** download fetches a file with the token, which a plain link could not send. */
export async function download(chatId: string, path: string, state: FileState = {}): Promise<void> {
  try {
    saveBlob(await readBlob(chatId, path, state), baseName(path));
  } catch (error) {
    tellFault(`${path} was not downloaded`, error);
  }
}
