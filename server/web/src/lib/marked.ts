/** marked cuts a text where a search found its words; places are in characters, as the server counts them. */
export function marked(text: string, at: number[][] = []): { text: string; hit: boolean }[] {
  const letters = [...text];
  const out: { text: string; hit: boolean }[] = [];
  let done = 0;
  for (const [from = 0, to = 0] of at) {
    if (from < done || to <= from || from >= letters.length) continue;
    if (from > done) out.push({ text: letters.slice(done, from).join(""), hit: false });
    out.push({ text: letters.slice(from, to).join(""), hit: true });
    done = to;
  }
  if (done < letters.length) out.push({ text: letters.slice(done).join(""), hit: false });
  return out;
}
