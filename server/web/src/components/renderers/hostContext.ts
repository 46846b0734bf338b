// What an app is told of the page: its theme, colours and language. Nothing of the
// chat, of the person or of the machine.

// The specification's names of styles, and the tokens that they are here.
const variables: Record<string, string> = {
  "--color-background-primary": "--fettle-bg",
  "--color-background-secondary": "--fettle-surface",
  "--color-background-tertiary": "--fettle-raised",
  "--color-text-primary": "--fettle-text-primary",
  "--color-text-secondary": "--fettle-text-muted",
  "--color-border-primary": "--fettle-border",
  "--color-text-danger": "--fettle-bad",
  "--color-text-success": "--fettle-good",
  "--color-text-warning": "--fettle-warn",
};

export function hostContext(tool: unknown): Record<string, unknown> {
  const root = document.documentElement;
  const styles = getComputedStyle(root);
  return {
    theme: root.dataset.theme === "light" ? "light" : "dark",
    styles: {
      variables: {
        ...Object.fromEntries(Object.entries(variables).map(([name, token]) => [name, styles.getPropertyValue(token).trim()])),
        "--font-sans": "ui-sans-serif, system-ui, sans-serif",
        "--font-mono": "ui-monospace, monospace",
      },
    },
    displayMode: "inline",
    availableDisplayModes: ["inline"],
    containerDimensions: { maxHeight: 2_000 },
    locale: navigator.language,
    platform: "web",
    toolInfo: { tool },
  };
}
