import { useEffect } from "react";
import { useUI } from "./ui";

/** useTheme keeps the document's theme at what the person chose, or the system's. */
export function useTheme() {
  const theme = useUI((s) => s.theme);
  useEffect(() => {
    const light = matchMedia("(prefers-color-scheme: light)");
    const apply = () => {
      document.documentElement.dataset.theme = theme === "system" ? (light.matches ? "light" : "dark") : theme;
    };
    apply();
    light.addEventListener("change", apply);
    return () => light.removeEventListener("change", apply);
  }, [theme]);
}
