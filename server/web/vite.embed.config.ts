import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { alias } from "./vite.alias.ts";

const src = new URL("src/", import.meta.url).pathname;

/**
 * perElement wraps the chat into a function that gives a new copy of it at each
 * call, so that several elements of a page share no state. What it would write
 * into the storages and the address of a page that isn't its own, it keeps to
 * itself: the names are its parameters.
 */
function perElement(): Plugin {
  const before = `
const storage = () => { const m = new Map(); return { getItem: (k) => m.get(k) ?? null, setItem: (k, v) => void m.set(k, String(v)), removeItem: (k) => void m.delete(k), clear: () => m.clear(), key: (i) => [...m.keys()][i] ?? null, get length() { return m.size; } }; };
const still = { state: null, pushState() {}, replaceState() {} };
const place = { pathname: "/", search: "", hash: "", get href() { return globalThis.location.href; }, get origin() { return globalThis.location.origin; } };
function make(localStorage, sessionStorage, history, location) {
`;
  const after = `
return fettleChat; }
const copy = () => make(storage(), storage(), still, place);
const first = copy();
first.define(copy);
export const registerPayloadHandler = first.registerPayloadHandler;
export const getPayloadHandler = first.getPayloadHandler;
`;
  return {
    name: "per-element",
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type === "chunk" && chunk.isEntry) chunk.code = before + chunk.code + after;
      }
    },
  };
}

// What the page has and the web component has another form of: editors and frames
// stay with the page, and tooltips are the browser's.
const others: Record<string, string> = {
  [src + "components/renderers/ToolCallView.tsx"]: src + "embed/PlainCall.tsx",
  [src + "components/renderers/PlanView.tsx"]: src + "embed/PlainPlan.tsx",
  [src + "components/ui/Tooltip.tsx"]: src + "embed/PlainTooltip.tsx",
};

function instead(): Plugin {
  return {
    name: "instead",
    enforce: "pre",
    async resolveId(source, importer, options) {
      if (!importer || source.startsWith("\0")) return null;
      const found = await this.resolve(source, importer, { ...options, skipSelf: true });
      return (found && others[found.id]) ?? null;
    },
  };
}

// The web component <fettle-chat>: one file, which any page can load.
export default defineConfig({
  // Names of files come from paths: those of packages are the same wherever they are kept.
  resolve: { preserveSymlinks: true, alias },
  plugins: [instead(), react(), tailwindcss(), perElement()],
  publicDir: false,
  define: { "process.env.NODE_ENV": '"production"', "window.localStorage": "localStorage" },
  build: {
    outDir: "dist",
    emptyOutDir: false,
    target: "es2023",
    reportCompressedSize: false,
    lib: { entry: "src/embed/index.ts", formats: ["iife"], name: "fettleChat", fileName: () => "embed.js" },
  },
});
