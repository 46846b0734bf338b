// The packages of npm that the tests of the page need. They are those of the page,
// or where FETTLE_PAGE names a folder, the ones that were installed there.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const web = fileURLToPath(new URL("..", import.meta.url));
const require = createRequire(join(process.env.FETTLE_PAGE || web, "package.json"));

export const { chromium } = require("playwright-core");

/**
 * bundle makes scripts for browsers of a file in a folder, with what it imports. It returns them by
 * their paths, the entry first: dynamic imports are scripts of their own.
 */
export async function bundle(dir, file) {
  const { build } = await import(pathToFileURL(require.resolve("vite")).href);
  const made = await build({
    root: dir, configFile: false, logLevel: "error",
    build: { write: false, minify: false, target: "esnext", lib: { entry: join(dir, file), formats: ["es"], fileName: "bundle" } },
  });
  return Object.fromEntries([made].flat()[0].output.map(({ fileName, code }) => [`/${fileName}`, code]));
}

/** axeSource is the script of axe-core, which is run within the page. */
export const axeSource = () => readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
