// What the page weighs, and how it bears long chats and long answers. Times are held
// against times of the same run on the same machine, never against a clock.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chat } from "../kit.mjs";
import { script } from "../models.mjs";

// Ratios of times are judged where nothing else runs, and told everywhere.
const quiet = process.env.FETTLE_TEST_QUIET === "1";

const most = 250 * 1000; // bytes of a first load, as they are sent
const slower = 1.5; // the first paint of a long chat, by that of a short one
const rounds = 5;
const long = 2000; // messages
const short = 20;
const streamed = 200_000; // characters of an answer
const markdown = "# Plan\n\nSome **bold** words, `code`, and a list:\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nconst a = 1;\n```\n";

export default async function weight(t) {
  const paragraph = "The quick brown fox jumps over the lazy dog, **twice**, and looks at `it` again.\n\n";
  const answer = paragraph.repeat(Math.ceil(streamed / paragraph.length)) + "The end of a long answer.";
  const server = await t.serve({
    args: ["--model", "script/model.yaml"],
    models: {
      // As fast as a quick model: some 200 words a second, many in a batch.
      "model.yaml": script([{ when: "^long", deltas: batches(answer) }, { when: "", text: markdown }]),
    },
  });
  await loads(t, server);
  await paints(t, server);
  await streams(t, server);
}

function batches(text) {
  const deltas = [];
  for (let i = 0; i < text.length; i += 400) deltas.push({ wait: "8ms", content: text.slice(i, i + 400) });
  return deltas;
}

/** loads counts all bytes that a first visit is sent, up to when the network is silent. */
async function loads(t, server) {
  const count = async (path, ready) => {
    const context = await t.context();
    const page = await context.newPage();
    const client = await context.newCDPSession(page);
    const sent = new Map();
    await client.send("Network.enable");
    client.on("Network.responseReceived", ({ requestId, response }) => sent.set(requestId, { url: response.url, bytes: 0 }));
    client.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
      const one = sent.get(requestId);
      if (one) one.bytes = encodedDataLength;
    });
    await page.goto(`${server.url}${path}#token=${server.token}`);
    await ready(page);
    await page.waitForLoadState("networkidle");
    const files = [...sent.values()].filter(({ url }) => url.startsWith(server.url) && !new URL(url).pathname.startsWith("/api/"));
    await context.close();
    return files.map(({ url, bytes }) => ({ path: new URL(url).pathname, bytes })).sort((a, b) => b.bytes - a.bytes);
  };
  const empty = await count("/", (page) => page.getByRole("heading", { name: "What shall be done?" }).waitFor());
  const frames = await server.ask("a plan");
  const id = frames.find((f) => f.chat_id)?.chat_id ?? (await server.api("/api/chats")).chats[0].id;
  const full = await count(`/c/${id}`, (page) => page.getByRole("article").getByText("Some bold words", { exact: false }).waitFor());
  // An empty page is held to it whole. In a chat, which draws in a font of fixed width
  // too, text stands before its fonts are there.
  const code = full.filter((f) => !f.path.endsWith(".woff2"));
  for (const [what, files, held] of [["an empty page", empty, empty], ["a chat with Markdown", full, code]]) {
    t.figure(`the first load of ${what} is ${kilobytes(files)} KB, ${kilobytes(files.filter((f) => !f.path.endsWith(".woff2")))} without fonts: ${files.slice(0, 6).map((f) => `${f.path.split("/").pop() || "/"} ${kilobytes([f])}`).join(", ")}`);
    if (sumOf(held) >= most) t.faults.push(`the first load of ${what} is ${sumOf(held)} bytes; ${most} are allowed:\n${held.map((f) => `  ${f.bytes} ${f.path}`).join("\n")}`);
  }
}

const sumOf = (files) => files.reduce((n, f) => n + f.bytes, 0);
const kilobytes = (files) => (sumOf(files) / 1000).toFixed(1);

/** chatOf brings in a chat of n messages, as another fettle would have exported it, and gives its id. */
async function chatOf(t, server, n) {
  const id = (kind, i) => `01M0000${kind}${String(n).padStart(6, "0")}${String(i).padStart(12, "0")}`;
  const at = (i) => new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString();
  const chatId = id("C", 0);
  const messages = Array.from({ length: n }, (_, i) => ({
    chat_id: chatId, id: id("M", i), ...(i > 0 ? { parent_id: id("M", i - 1) } : {}), turn_id: id("T", i >> 1), role: i % 2 ? "assistant" : "user", status: "complete", created_at: at(i),
    parts: [{ type: "text", text: i % 2 ? `${markdown}\nThis is answer ${i >> 1} of the chat.` : `Question ${i >> 1}` }], ...(i % 2 ? { stop_reason: "stop", model: "script/model.yaml" } : {}),
  }));
  const file = join(server.work, `chat-${n}.json`);
  writeFileSync(file, JSON.stringify({
    schema_version: 1, format: "fettle-chat", messages, tool_calls: [],
    chat: { id: chatId, number: 1, title: `${n} messages`, model: "script/model.yaml", active_leaf_message_id: id("M", n - 1), created_at: at(0), updated_at: at(n), last_turn: n / 2, messages: n },
  }));
  server.run("chats", "import", file);
  return t.until("the chat is there", async () => (await server.api("/api/chats")).chats.find((c) => c.title === `${n} messages`)?.id);
}

/** paints compares when the last message of a long chat is there with that of a short one. */
async function paints(t, server) {
  const ids = {};
  for (const n of [short, long]) ids[n] = await chatOf(t, server, n);
  const times = { [short]: [], [long]: [] };
  const context = await t.context();
  const warm = await t.open(server, { context });
  await chat(warm).message.waitFor();
  for (let i = 0; i <= rounds; i++) {
    for (const n of [short, long]) {
      const page = await context.newPage();
      // The messages are those of the server, not the last ones in the cache.
      await page.addInitScript(() => localStorage.clear());
      await page.addInitScript((text) => {
        const look = new MutationObserver(() => {
          if (!document.querySelector('[role="log"]')?.textContent?.includes(text)) return;
          look.disconnect();
          requestAnimationFrame(() => setTimeout(() => (window.painted = performance.now())));
        });
        look.observe(document, { childList: true, subtree: true, characterData: true });
      }, `answer ${n / 2 - 1} of`);
      await page.goto(`${server.url}/c/${ids[n]}#token=${server.token}`);
      await page.waitForFunction(() => window.painted);
      if (i > 0) times[n].push(await page.evaluate(() => window.painted)); // the first one fills caches
      await page.close();
    }
  }
  const [few, many] = [median(times[short]), median(times[long])];
  t.figure(`the first paint of ${long} messages takes ${(many / few).toFixed(2)} × that of ${short} (${many.toFixed(0)} and ${few.toFixed(0)} ms, medians of ${rounds})`);
  t.ok(!quiet || many / few <= slower, `the first paint of a long chat is within ${slower} × that of a short one: ${many.toFixed(0)} and ${few.toFixed(0)} ms`);
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

const frame = 10; // a long task is one of so many units of work
const tries = 3; // what another process takes away hits one of them, a fault of the page all

/**
 * streams looks for tasks that keep the page from answering while a long text comes in.
 * The longest is held against a fixed piece of work on the same thread just before:
 * it takes some 10 ms on a machine with nothing else to do, so that ten of it are the
 * 100 ms that nobody notices; on a busy machine both take longer.
 */
async function streams(t, server) {
  const page = await t.open(server);
  const ui = chat(page);
  await ui.message.waitFor();
  const seen = [];
  for (let i = 0; i < tries; i++) {
    const unit = await page.evaluate(baseline);
    await page.evaluate(() => {
      window.tasks = [];
      window.watcher?.disconnect();
      window.watcher = new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((e) => e.duration)));
      window.watcher.observe({ type: "longtask" });
    });
    await page.getByRole("button", { name: "New chat" }).click();
    await ui.ask(`long ${i}`);
    // To look for words or roles in so large a page takes long itself.
    await page.waitForFunction(() => document.querySelector('[aria-label="Stop"]'), null, { polling: 200 });
    await page.waitForFunction(() => !document.querySelector('[aria-label="Stop"]'), null, { polling: 200 });
    // On a busy machine the last of it is drawn after the turn has ended.
    await page.waitForFunction((end) => document.querySelector('[role="log"]')?.textContent?.includes(end), "The end of a long answer.", { polling: 200 });
    const tasks = await page.evaluate(() => window.tasks);
    seen.push({ unit, longest: Math.max(0, ...tasks), count: tasks.length, over: tasks.filter((d) => d > 100).length });
    if (seen.at(-1).longest <= frame * unit) break;
  }
  const best = seen.reduce((a, b) => (a.longest / a.unit <= b.longest / b.unit ? a : b));
  t.figure(`streaming ${streamed / 1000} KB: the longest task is ${(best.longest / best.unit).toFixed(1)} units of work (${best.longest.toFixed(0)} ms, a unit ${best.unit.toFixed(1)} ms, ${best.count} tasks over 50 ms, ${best.over} over 100 ms; run ${seen.length} of at most ${tries})`);
  t.ok(!quiet || best.longest <= frame * best.unit, `no task is longer than ${frame} units of work: ${JSON.stringify(seen)}`);
}

/** baseline gives what a unit of work takes: the slow end of a few, as the longest task is one, too. */
function baseline() {
  const times = [];
  for (let n = 0; n < 20; n++) {
    const begun = performance.now();
    let x = 1;
    for (let i = 0; i < 6_000_000; i++) x = (Math.imul(x, 1664525) + 1013904223) | 0;
    window.unit = x;
    times.push(performance.now() - begun);
  }
  return times.sort((a, b) => a - b)[17];
}
