import { LanguageDescription, type LanguageSupport } from "@codemirror/language";
import { languages } from "@codemirror/language-data";

// What tools call languages that @codemirror/language-data has under other names.
const aliases: Record<string, string> = { shell: "shell", bash: "shell", sh: "shell", text: "", plain: "", plaintext: "", auto: "", "": "" };

// Beyond these a parser would keep the page busy, and colours help nobody.
const maxColoured = 1_500_000;
const maxLine = 20_000;

/** languageOf loads the language of a name that a renderer gave, or of a file's name. */
export async function languageOf(text: string, language: string | undefined, path: string | undefined): Promise<LanguageSupport | null> {
  if (text.length > maxColoured || hasLongLine(text)) return null;
  const name = (language ?? "auto").toLowerCase();
  const wanted = aliases[name] ?? name;
  const found = wanted
    ? LanguageDescription.matchLanguageName(languages, wanted, true)
    : (name === "" || name === "auto") && path
      ? LanguageDescription.matchFilename(languages, path.slice(path.lastIndexOf("/") + 1))
      : null;
  return found ? found.load() : null;
}

export function hasLongLine(text: string): boolean {
  let start = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
    if (end - start > maxLine) return true;
    start = end + 1;
  }
  return text.length - start > maxLine;
}

/** separatorOf keeps a file's ends of lines: a mixed file's stay characters of it. */
export function separatorOf(text: string): "\n" | "\r\n" {
  const all = text.match(/\n/g)?.length ?? 0;
  const windows = text.match(/\r\n/g)?.length ?? 0;
  return all > 0 && all === windows ? "\r\n" : "\n";
}
