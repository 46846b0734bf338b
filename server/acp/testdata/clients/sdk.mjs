// The TypeScript SDK's client drives `fettle acp`: node sdk.mjs FOLDER PROGRAM ARGS…
// Prints a line for each scenario, and ends with status 1 where one failed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import * as acp from "@agentclientprotocol/sdk";

const [folder, program, ...args] = process.argv.slice(2);
const methods = acp.methods;

// editor runs op with an agent process, and gives what it saw.
async function editor(permission, op) {
  const seen = { updates: [], asked: [], read: [] };
  const child = spawn(program, args, { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  await acp
    .client({ name: "fettle-test" })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      seen.asked.push(params);
      return permission(params, seen);
    })
    .onRequest(methods.client.fs.readTextFile, async ({ params }) => {
      seen.read.push(params.path);
      if (path.basename(params.path) === "draft.txt") return { content: "not saved yet\n" };
      try {
        return { content: await readFile(params.path, "utf8") };
      } catch {
        throw acp.RequestError.resourceNotFound(params.path);
      }
    })
    .onRequest(methods.client.fs.writeTextFile, async ({ params }) => {
      await mkdir(path.dirname(params.path), { recursive: true });
      await writeFile(params.path, params.content);
      return {};
    })
    .onNotification(methods.client.session.update, ({ params }) => {
      seen.updates.push(params.update);
      seen.heard?.(params.update);
    })
    .connectWith(stream, async (agent) => {
      const hello = await agent.request(methods.agent.initialize, {
        protocolVersion: acp.PROTOCOL_VERSION,
        clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
      });
      assert.equal(hello.protocolVersion, 1);
      assert.equal(hello.agentCapabilities.loadSession, true);
      await op(agent, seen);
    });
  child.stdin.end();
  assert.deepEqual(await ended, { code: 0, signal: null });
  return seen;
}

const said = (seen, kind) =>
  seen.updates.filter((u) => u.sessionUpdate === kind && u.content.type === "text").map((u) => u.content.text).join("");
// until waits for updates until something holds: the SDK may hand out a response before the
// notifications that came before it.
const until = (seen, holds) =>
  new Promise((resolve) => {
    seen.heard = () => holds() && resolve();
    seen.heard();
  });
const text = (s) => [{ type: "text", text: s }];
const option = (params, kind) => ({ outcome: { outcome: "selected", optionId: params.options.find((o) => o.kind === kind).optionId } });
const file = path.join(folder, "notes", "a.txt");
let sessionId;

const scenarios = {
  async "a turn with a permission and a linked file"() {
    const seen = await editor(
      (p) => option(p, "allow_once"),
      async (agent, seen) => {
        ({ sessionId } = await agent.request(methods.agent.session.new, { cwd: folder, mcpServers: [] }));
        const link = { type: "resource_link", name: "draft.txt", uri: pathToFileURL(path.join(folder, "draft.txt")).href };
        const done = await agent.request(methods.agent.session.prompt, { sessionId, prompt: [...text("write it, see "), link] });
        assert.equal(done.stopReason, "end_turn");
        assert.equal(seen.asked.length, 1);
      },
    );
    assert.equal(await readFile(file, "utf8"), "one\n");
    assert.ok(seen.read.includes(path.join(folder, "draft.txt")));
    assert.equal(said(seen, "agent_message_chunk"), "I write it.Hello there.");
    const last = seen.updates.findLast((u) => u.sessionUpdate === "tool_call_update");
    assert.equal(last.status, "completed");
    assert.deepEqual(last.content[0], { type: "diff", path: file, newText: "one\n" });
    assert.ok(seen.updates.some((u) => u.sessionUpdate === "available_commands_update"));
  },

  async "a load in another process, and undo"() {
    await editor(
      (p) => option(p, "reject_once"),
      async (agent, seen) => {
        const { sessions } = await agent.request(methods.agent.session.list, { cwd: folder });
        assert.deepEqual(sessions.map((s) => s.sessionId), [sessionId]);
        await agent.request(methods.agent.session.load, { sessionId, cwd: folder, mcpServers: [] });
        await until(seen, () => said(seen, "agent_message_chunk") === "I write it.Hello there.");
        assert.match(said(seen, "user_message_chunk"), /^write it, see /);
        assert.ok(seen.updates.some((u) => u.content?.type === "resource" && u.content.resource.text === "not saved yet\n"));
        const done = await agent.request(methods.agent.session.prompt, { sessionId, prompt: text("/undo") });
        assert.equal(done.stopReason, "end_turn");
        await assert.rejects(readFile(file));
        const again = await agent.request(methods.agent.session.prompt, { sessionId, prompt: text("write it") });
        assert.equal(again.stopReason, "end_turn");
        await assert.rejects(readFile(file));
      },
    );
  },

  async "a cancel while a model speaks, and while a permission waits"() {
    await editor(
      (p, seen) => new Promise((resolve) => (seen.cancelled = () => resolve({ outcome: { outcome: "cancelled" } }))) ,
      async (agent, seen) => {
        await agent.request(methods.agent.session.resume, { sessionId, cwd: folder });
        const heard = new Promise((resolve) => (seen.heard = (u) => u.content?.text === "Half" && resolve()));
        const slow = agent.request(methods.agent.session.prompt, { sessionId, prompt: text("slow") });
        await heard;
        await agent.notify(methods.agent.session.cancel, { sessionId });
        assert.equal((await slow).stopReason, "cancelled");

        const asking = agent.request(methods.agent.session.prompt, { sessionId, prompt: text("write it") });
        while (!seen.cancelled) await new Promise((resolve) => setTimeout(resolve, 10));
        await agent.notify(methods.agent.session.cancel, { sessionId });
        seen.cancelled();
        assert.equal((await asking).stopReason, "cancelled");

        await agent.request(methods.agent.session.delete, { sessionId });
        const { sessions } = await agent.request(methods.agent.session.list, {});
        assert.deepEqual(sessions, []);
      },
    );
  },
};

await writeFile(path.join(folder, "draft.txt"), "saved\n");
let failed = 0;
for (const [name, scenario] of Object.entries(scenarios)) {
  try {
    await scenario();
    console.log(`ok ${name}`);
  } catch (err) {
    failed++;
    console.log(`not ok ${name}: ${err?.stack ?? err}`);
  }
}
process.exit(failed ? 1 : 0);
