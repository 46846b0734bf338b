// Zed's SDK of an earlier protocol drives `fettle acp`: node zed.mjs FOLDER PROGRAM ARGS…
// Prints a line for each scenario, and ends with status 1 where one failed. What the SDK does
// not know must not disturb it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { ClientSideConnection, ndJsonStream, PROTOCOL_VERSION } from "@zed-industries/agent-client-protocol";

const [folder, program, ...args] = process.argv.slice(2);
const child = spawn(program, args, { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
const ended = new Promise((resolve) => child.on("exit", resolve));
const updates = [];
const asked = [];
const client = {
  async requestPermission(params) {
    asked.push(params);
    return { outcome: { outcome: "selected", optionId: params.options.find((o) => o.kind === "allow_once").optionId } };
  },
  async sessionUpdate({ update }) {
    updates.push(update);
  },
};
const agent = new ClientSideConnection(() => client, ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
const file = path.join(folder, "notes", "a.txt");
let sessionId;
let modes;

// prompt asks, and returns the diffs of the calls.
async function prompt(text) {
  const from = updates.length;
  assert.deepEqual((await agent.prompt({ sessionId, prompt: [{ type: "text", text }] })).stopReason, "end_turn");
  return updates.slice(from).flatMap((u) => u.content?.filter?.((c) => c.type === "diff") ?? []);
}

const scenarios = {
  async "a session begins"() {
    const hello = await agent.initialize({ protocolVersion: PROTOCOL_VERSION, clientCapabilities: { fs: { readTextFile: false, writeTextFile: false } } });
    assert.equal(hello.protocolVersion, 1);
    ({ sessionId, modes } = await agent.newSession({ cwd: folder, mcpServers: [] }));
    assert.ok(modes.availableModes.length > 0);
  },
  async "a turn writes a file, with its diff"() {
    const diffs = await prompt("write it");
    assert.equal(asked.length, 1);
    assert.equal(await readFile(file, "utf8"), "one\n");
    assert.ok(diffs.some((d) => d.path === file && !d.oldText && d.newText === "one\n"), JSON.stringify(diffs));
  },
  async "a turn of text, in another mode"() {
    await agent.setSessionMode({ sessionId, modeId: modes.availableModes.at(-1).id });
    await prompt("hello");
    const said = updates.filter((u) => u.sessionUpdate === "agent_message_chunk").map((u) => u.content.text).join("");
    assert.match(said, /Hello there\.$/);
  },
};

let failed = 0;
for (const [name, scenario] of Object.entries(scenarios)) {
  try {
    await scenario();
    console.log(`ok ${name}`);
  } catch (err) {
    failed++;
    console.log(`not ok ${name}: ${err?.stack ?? JSON.stringify(err)}`);
  }
}
child.stdin.end();
if ((await ended) !== 0) failed++;
process.exit(failed ? 1 : 0);
