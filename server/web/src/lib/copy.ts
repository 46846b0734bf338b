/** copy puts a text on the clipboard. It rejects, too, where a browser gives a page none: one that came over plain HTTP from another machine. */
export async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}
