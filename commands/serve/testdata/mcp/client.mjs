// Lists and calls fettle's tools and prompts by the TypeScript clients of the protocol:
// client 2.4.0 and sdk 1.32.2, at an address and as a program. Prints what they got.
// Long calls have a timeout that progress resets, and that is shorter than they are.
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

async function use(client, transport, wait) {
  await client.connect(transport);
  try {
    const { tools } = await client.listTools();
    const result = await client.callTool({ name: "write_file", arguments: { path: "b.txt", content: "hi" } });
    const { resources } = await client.listResources();
    const page = tools.find((t) => t._meta?.ui?.resourceUri)._meta.ui.resourceUri;
    const read = await client.readResource({ uri: page });
    const { prompts } = await client.listPrompts();
    const filled = await client.getPrompt({ name: "review", arguments: { input: "a diff" } });
    const { completion } = await client.complete({ ref: { type: "ref/prompt", name: "review" }, argument: { name: "lang", value: "" } });
    return {
      ...(await wait(client)),
      prompts: prompts.map((p) => p.name + " " + p.arguments.map((a) => a.name)), filled: filled.messages[0].content.text, completed: completion.values,
      tools: tools.length, text: result.content[0].text, resources: resources.map((r) => r.uri), page: read.contents[0].mimeType,
    };
  } finally {
    await client.close();
  }
}

// long makes calls that take longer than their timeout.
function long(call) {
  return async (client) => {
    const ofCommand = [], ofAgent = [];
    // The timeout is longer than a busy machine needs; that progress resets it is the SDK's to test.
    const patient = (seen) => ({ timeout: 30000, resetTimeoutOnProgress: true, onprogress: (p) => seen.push(p.progress) });
    const command = await call(client, { name: "run_command", arguments: { command: "sleep 5" } }, patient(ofCommand));
    const commands = ofCommand.length;
    const agent = await call(client, { name: "agent__slow", arguments: { message: "go" } }, patient(ofAgent));
    const rises = (seen) => seen.slice(1).every((p, i) => p > seen[i]);
    return {
      command: !command.isError && commands > 2, agent: agent.content[0].text, agents: ofAgent.length,
      rose: rises(ofCommand) && rises(ofAgent),
    };
  };
}
const longModern = long((client, params, options) => client.callTool(params, options));
const longOld = long((client, params, options) => client.callTool(params, undefined, options));

const modern = await load("client", ".");
const stdio = await load("client", "./stdio");
const oldClient = await import(pathToFileURL(join(scope, "sdk/dist/esm/client/index.js")).href);
const oldHTTP = await import(pathToFileURL(join(scope, "sdk/dist/esm/client/streamableHttp.js")).href);
const oldStdio = await import(pathToFileURL(join(scope, "sdk/dist/esm/client/stdio.js")).href);
const started = { command: program, args: ["mcp", "serve", "--log", "off"], env: process.env };
const auto = { versionNegotiation: { mode: "auto" } };

const uses = {
  "client, http": () => use(new modern.Client({ name: "client", version: "1" }, auto), new modern.StreamableHTTPClientTransport(new URL(url)), longModern),
  "client, stdio": () => use(new modern.Client({ name: "client", version: "1" }, auto), new stdio.StdioClientTransport(started), longModern),
  "sdk, http": () => use(new oldClient.Client({ name: "sdk", version: "1" }), new oldHTTP.StreamableHTTPClientTransport(new URL(url)), longOld),
  "sdk, stdio": () => use(new oldClient.Client({ name: "sdk", version: "1" }), new oldStdio.StdioClientTransport(started), longOld),
};
const results = await Promise.all(Object.entries(uses).map(async ([name, run]) => [name, await run()]));
console.log(JSON.stringify(Object.fromEntries(results)));
