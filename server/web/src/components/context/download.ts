/** download saves a response's body as a file. It is fetched first, since a link can't carry the token. */
export async function download(response: Response, name: string): Promise<void> {
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser takes it after this task; a minute is long enough for it to begin.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
