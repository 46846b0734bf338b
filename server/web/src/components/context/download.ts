import { saveBlob } from "@/lib/download";

/** download saves a response's body as a file. It is fetched first, since a link can't carry the token. */
export async function download(response: Response, name: string): Promise<void> {
  saveBlob(await response.blob(), name);
}
