// The official clients of OpenAI, Anthropic and MCP in a page of another origin: they work
// where the server allows the origin, and only there.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { script } from "../models.mjs";
import { bundle } from "../packages.mjs";

const model = "script/model.yaml";
const answers = script([
  { when: "^busy", error: { kind: "rate_limited", status: 429, message: "slow down", retry_after: "10ms" } },
  { when: "", text: "Hello from afar.", usage: { input_tokens: 3, output_tokens: 4 } },
]);

// What the page runs: each client with nothing but its address and key.
const source = `
import OpenAI from "openai";
import Anthropic from "@anthropic-ai/sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as modern from "@modelcontextprotocol/client";

const model = ${JSON.stringify(model)};
const messages = [{ role: "user", content: "hello" }];
const busy = [{ role: "user", content: "busy" }];

async function mcp(Client, Transport, options, url, token) {
  const client = new Client({ name: "page", version: "1.0.0" }, options);
  const transport = new Transport(new URL(url + "/mcp"), { requestInit: { headers: { Authorization: "Bearer " + token } } });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const called = await client.callTool({ name: "list_files", arguments: {} });
  await client.close();
  return { named: tools.some((t) => t.name === "list_files"), failed: called.isError === true, session: typeof transport.sessionId };
}

window.clients = {
  async openai(url, token) {
    const client = new OpenAI({ baseURL: url + "/v1", apiKey: token, dangerouslyAllowBrowser: true, maxRetries: 0 });
    const whole = await client.chat.completions.create({ model, messages }, { headers: { "X-Fettle-Agent": "none" } });
    const { final } = { final: await client.chat.completions.stream({ model, messages }).finalChatCompletion() };
    const response = await client.responses.create({ model, input: "hello", store: false });
    const models = [];
    for await (const m of client.models.list()) models.push(m.id);
    const limited = await client.chat.completions.create({ model, messages: busy }).catch((error) => error);
    return {
      texts: [whole.choices[0].message.content, final.choices[0].message.content, response.output_text], listed: models.includes(model),
      limited: [limited.status, limited.code, limited.headers.get("retry-after"), typeof limited.requestID],
    };
  },
  async anthropic(url, token) {
    const client = new Anthropic({ baseURL: url, apiKey: token, dangerouslyAllowBrowser: true, maxRetries: 0 });
    const ask = { model, max_tokens: 64, messages };
    const whole = await client.messages.create(ask);
    const streamed = await client.messages.stream(ask).finalText();
    const beta = await client.beta.messages.create({ ...ask, betas: ["prompt-caching-2024-07-31"] });
    const { input_tokens } = await client.messages.countTokens({ model, messages });
    const limited = await client.messages.create({ ...ask, messages: busy }).catch((error) => error);
    return { texts: [whole.content[0].text, streamed, beta.content[0].text], counted: input_tokens > 0, limited: [limited.status, limited.type, limited.headers.get("retry-after")] };
  },
  legacy: (url, token) => mcp(Client, StreamableHTTPClientTransport, undefined, url, token),
  modern: (url, token) => mcp(modern.Client, modern.StreamableHTTPClientTransport, { versionNegotiation: { mode: "auto" } }, url, token),
};
window.ready = true;
`;

// bundled returns the scripts of the page, made of the packages as they were installed.
async function bundled(t) {
  const dir = mkdtempSync(join(tmpdir(), "fettle-page-clients-"));
  t.closers.push(() => rmSync(dir, { recursive: true, force: true }));
  for (const [set, name] of [["FETTLE_CLIENTS", "openai"], ["FETTLE_CLIENTS", "@anthropic-ai/sdk"], ["FETTLE_MCP_PEERS", "@modelcontextprotocol/sdk"], ["FETTLE_MCP_PEERS", "@modelcontextprotocol/client"]]) {
    const to = join(dir, "node_modules", name);
    mkdirSync(dirname(to), { recursive: true });
    symlinkSync(join(process.env[set], "node_modules", name), to, "junction");
  }
  writeFileSync(join(dir, "entry.js"), source);
  return bundle(dir, "entry.js");
}

// tries returns what a client in a page gives, or the words of its failure.
const tries = (page, name, { url, token }) =>
  page.evaluate(([name, url, token]) => window.clients[name](url, token).catch((error) => ({ error: String(error.message ?? error) })), [name, url, token]);

export default async function clients(t) {
  const scripts = await bundled(t);
  const [entry] = Object.keys(scripts);
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>A page of others</title><script type="module" src="${entry}"></script></html>`;
  const page = (request, response) => {
    const code = scripts[request.url];
    response.setHeader("Content-Type", code === undefined ? "text/html; charset=utf-8" : "text/javascript; charset=utf-8");
    response.end(code ?? html);
  };
  const allowed = await t.listen(page);
  const other = await t.listen(page);
  const server = await t.serve({ args: ["--model", model, "--allow-origin", allowed.origin], models: { "model.yaml": answers } });
  const opened = async (origin) => {
    const tab = await (await t.context()).newPage();
    await tab.goto(origin);
    await tab.waitForFunction(() => window.ready);
    return tab;
  };
  t.allow(/429 \(Too Many Requests\)/, /405 \(Method Not Allowed\)/, /401 \(Unauthorized\)/); // what the clients ask for, and read
  const good = await opened(allowed.origin);
  const text = "Hello from afar.";
  t.equal(await tries(good, "openai", server), { texts: [text, text, text], listed: true, limited: [429, "rate_limit_exceeded", "1", "string"] }, "the client of OpenAI");
  t.equal(await tries(good, "anthropic", server), { texts: [text, text, text], counted: true, limited: [429, "rate_limit_error", "1"] }, "the client of Anthropic");
  t.equal(await tries(good, "legacy", server), { named: true, failed: false, session: "string" }, "the client of MCP, with sessions");
  t.equal(await tries(good, "modern", server), { named: true, failed: false, session: "undefined" }, "the client of MCP, without sessions");
  t.equal((await tries(good, "openai", { ...server, token: "x".repeat(43) })).error?.startsWith("401"), true, "an allowed origin needs the token all the same");

  t.allow(/CORS policy/, /net::ERR_FAILED/);
  const bad = await opened(other.origin);
  for (const name of ["openai", "anthropic", "legacy", "modern"]) {
    const { error } = await tries(bad, name, server);
    t.ok(/Connection error|Failed to fetch|fetch failed/i.test(error ?? ""), `a page of another origin is refused with ${name}: ${error}`);
  }
}
