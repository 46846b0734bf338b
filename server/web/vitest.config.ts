import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "@": new URL("src", import.meta.url).pathname, "mdast-util-to-markdown": new URL("src/lib/noMarkdownWriter.ts", import.meta.url).pathname } },
  plugins: [react()],
  test: { environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}"], restoreMocks: true },
});
