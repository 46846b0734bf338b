import styles from "@/styles.css?inline";

// The page's styles, as they have to be within a shadow root.

const rem = 16;

/** shadowStyles adapts a page's stylesheet to a shadow root. */
export function shadowStyles(css: string): string {
  const initial: string[] = [];
  return (
    css
      // A registration counts in documents alone; its initial value is set instead.
      .replace(/@property\s+(--[\w-]+)\s*\{([^}]*)\}/g, (_, name: string, body: string) => {
        const value = /initial-value:\s*([^;}]+)/.exec(body)?.[1];
        if (value !== undefined) initial.push(`${name}:${value}`);
        return "";
      })
      // The themes are the host's: its page overrides them by fettle-chat { --fettle-accent: … }.
      .replace(/:root,\s*(?=\[data-theme)/g, "")
      .replace(/\[data-theme=["']?(dark|light)["']?\]/g, ":host([data-theme=$1])")
      .replace(/(^|[}{;,\s])body(?=\s*[{,])/g, "$1:host")
      // The page around may have another root size.
      .replace(/(\d*\.?\d+)rem\b/g, (_, n: string) => `${Number(n) * rem}px`)
      .concat(`@layer properties{*,::before,::after,::backdrop{${initial.join(";")}}}`)
      .concat(":host{display:block;height:560px;contain:content;border-radius:inherit}:host([hidden]){display:none}.fettle-root{height:100%;background:var(--fettle-bg);position:relative;overflow:hidden}")
  );
}

let sheet: CSSStyleSheet | null = null;

/** sharedSheet is parsed once for all elements of a page. */
export function sharedSheet(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(shadowStyles(styles));
  }
  return sheet;
}
