// Builds the page and the web component into dist, the same bytes each time. What
// gets smaller by Brotli is there in that form alone: the program has it in itself,
// and unpacks it for a client that doesn't take it.
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { build } from "vite";

const root = new URL("..", import.meta.url).pathname;
const dist = root + "dist/";
const packs = /\.(js|css|svg|json)$/;
const worth = 1024; // a smaller file is one packet anyway

await rm(dist, { recursive: true, force: true });
await build({ root, mode: "production", logLevel: "warn" });
await build({ root, mode: "production", logLevel: "warn", configFile: root + "vite.embed.config.ts" });

const pack = promisify(brotliCompress);
for (const entry of await readdir(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !packs.test(entry.name)) continue;
  const path = `${entry.parentPath}/${entry.name}`;
  const raw = await readFile(path);
  if (raw.length < worth) continue;
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: raw.length };
  await writeFile(path + ".br", await pack(raw, { params }));
  await rm(path);
}
