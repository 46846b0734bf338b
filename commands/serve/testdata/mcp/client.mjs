// Lists and calls fettle's tools by the TypeScript clients of the protocol: client
// 2.4.0 and sdk 1.32.2, at an address and as a program. Prints what they got.
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [url, program] = process.argv.slice(2);
const scope = join(process.env.MODULES, "@modelcontextprotocol");

// load imports a file of a package, as the package names it.
function load(name, part) {
  const dir = join(scope, name);
  let to = JSON.parse(readFileSync(join(dir, "package.json"), "utf8")).exports[part];
  while (typeof to === "object") to = to.import ?? to.node ?? to.default;
  return import(pathToFileURL(join(dir, to)).href);
}

async function use(client, transport) {
  await client.connect(transport);
  try {
    const { tools } = await client.listTools();
    const result = await client.callTool({ name: "write_file", arguments: { path: "b.txt", content: "hi" } });
    const { resources } = await client.listResources();
    const page = tools.find((t) => t._meta?.ui?.resourceUri)._meta.ui.resourceUri;
    const read = await client.readResource({ uri: page });
    return {
      tools: tools.length, text: result.content[0].text, resources: resources.map((r) => r.uri), page: read.contents[0].mimeType,
    };
  } finally {
    await client.close();
  }
}

const modern = await load("client", ".");
const stdio = await load("client", "./stdio");
const oldClient = await import(pathToFileURL(join(scope, "sdk/dist/esm/client/index.js")).href);
const oldHTTP = await import(pathToFileURL(join(scope, "sdk/dist/esm/client/streamableHttp.js")).href);
const oldStdio = await import(pathToFileURL(join(scope, "sdk/dist/esm/client/stdio.js")).href);
const started = { command: program, args: ["mcp", "serve", "--log", "off"], env: process.env };
const auto = { versionNegotiation: { mode: "auto" } };

console.log(JSON.stringify({
  "client, http": await use(new modern.Client({ name: "client", version: "1" }, auto), new modern.StreamableHTTPClientTransport(new URL(url))),
  "client, stdio": await use(new modern.Client({ name: "client", version: "1" }, auto), new stdio.StdioClientTransport(started)),
  "sdk, http": await use(new oldClient.Client({ name: "sdk", version: "1" }), new oldHTTP.StreamableHTTPClientTransport(new URL(url))),
  "sdk, stdio": await use(new oldClient.Client({ name: "sdk", version: "1" }), new oldStdio.StdioClientTransport(started)),
}));
