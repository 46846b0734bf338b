import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The web component <fettle-chat>: one file, which any page can load.
export default defineConfig({
  resolve: { alias: { "@": new URL("src", import.meta.url).pathname } },
  plugins: [react(), tailwindcss()],
  publicDir: false,
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    outDir: "dist",
    emptyOutDir: false,
    target: "es2023",
    reportCompressedSize: false,
    lib: { entry: "src/embed/index.ts", formats: ["es"], fileName: () => "embed.js" },
  },
});
