// Builds the page and the web component into dist, the same bytes each time.
import { rm } from "node:fs/promises";
import { build } from "vite";

const root = new URL("..", import.meta.url).pathname;
await rm(new URL("../dist", import.meta.url), { recursive: true, force: true });
await build({ root, mode: "production", logLevel: "warn" });
await build({ root, mode: "production", logLevel: "warn", configFile: root + "vite.embed.config.ts" });
