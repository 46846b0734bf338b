import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type ProxyOptions } from "vite";
import { alias } from "./vite.alias.ts";

function proxied(target: string): ProxyOptions {
  return {
    target,
    changeOrigin: true,
    // The server answers its own page alone.
    configure: (proxy) => {
      proxy.on("proxyReq", (request) => {
        request.removeHeader("origin");
        request.removeHeader("sec-fetch-site");
        request.removeHeader("referer");
      });
    },
  };
}

// The page is embedded in a Go program and served by it. In development,
// `npm run dev` serves it, and FETTLE_URL names a running `fettle serve`.
export default defineConfig({
  // Names of files come from paths: those of packages are the same wherever they are kept.
  resolve: { preserveSymlinks: true, alias },
  plugins: [react(), tailwindcss()],
  base: "/",
  build: {
    outDir: "dist",
    emptyOutDir: false,
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    port: 5173,
    proxy: process.env.FETTLE_URL
      ? Object.fromEntries(["/api", "/v1"].map((path) => [path, proxied(process.env.FETTLE_URL ?? "")]))
      : undefined,
  },
});
