import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { useServer } from "./client";
import { ApiFault, Unreachable } from "./fault";
import { send } from "./send";

// A real server, which gives the length of what it was sent. jsdom tells no progress and
// cuts nothing off: e2e/scenarios/upload.mjs tries both in a browser.
let server: Server;
let got = 0;

beforeEach(async () => {
  got = 0;
  server = createServer((request, response) => {
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Access-Control-Allow-Headers", "*");
    response.setHeader("Access-Control-Allow-Methods", "*");
    if (request.method === "OPTIONS") return void response.end();
    request.on("data", (part: Buffer) => (got += part.length));
    request.on("end", () => {
      response.statusCode = request.headers["if-none-match"] ? 412 : 200;
      response.end(JSON.stringify(request.headers["if-none-match"] ? { error: { code: "busy", message: "it is there" } } : { bytes: got }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  useServer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterEach(async () => {
  useServer("");
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const size = 3 << 20;
const body = () => new Blob([new Uint8Array(size)]);

it("gives the answer", async () => {
  const response = await send("/file", { method: "PUT", body: body(), headers: {} });
  expect(await response.json()).toEqual({ bytes: size });
});

it("throws the server's refusal, and that there is none", async () => {
  const refusal = await send("/file", { method: "PUT", body: body(), headers: { "If-None-Match": "*" } }).catch((e: unknown) => e);
  expect(refusal).toBeInstanceOf(ApiFault);
  expect((refusal as ApiFault).message).toBe("it is there");
  useServer("http://127.0.0.1:1");
  await expect(send("/file", { method: "PUT", body: "x", headers: {} })).rejects.toBeInstanceOf(Unreachable);
});

it("sends nothing once it is stopped", async () => {
  const stop = new AbortController();
  stop.abort();
  await expect(send("/file", { method: "PUT", body: body(), headers: {}, signal: stop.signal })).rejects.toMatchObject({ name: "AbortError" });
  expect(got).toBe(0);
});
