// The front ends of testdata/frontends, served unmodified from an origin of their own.
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { project } from "./server.mjs";

const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8" };

/** frontend serves a folder of testdata/frontends, and returns its origin. */
export async function frontend(t, name) {
  const { origin } = await t.listen((request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    if (path === "/favicon.ico") return response.writeHead(204).end();
    const file = join(project, "testdata/frontends", name, path === "/" ? "index.html" : path);
    readFile(file).then(
      (content) => response.setHeader("Content-Type", types[extname(file)] ?? "").end(content),
      () => response.writeHead(404).end(),
    );
  });
  return origin;
}
