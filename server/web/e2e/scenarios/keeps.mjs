// A chat with 60 calls and payloads of every built-in type, and four of a bundle's own: after
// a reload, an update of the bundle, its removal, a restart and in a second browser, each card
// and each panel is as it was.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, script } from "../models.mjs";
import { answers, bundle } from "./own_views.mjs";
import { given, marked, shower } from "./views.mjs";

const calls = 60;

// The built-in types that views.mjs gets from the tools of real toolsets, with what is seen of each.
const others = [
  ["research_result", "Findings", "", { question: "What helps?", summary: "Naps help.", findings: [], sources: [] }, /Naps help/],
  ["review_collection", "Reviews", "", { business: { name: "Blue Door" }, reviews: [{ rating: 4, text: "Good rye bread" }] }, /Good rye bread/],
  ["review_analysis", "Verdict", "", { business_name: "Blue Door", verdict: { summary: "Good bread" } }, /Good bread/],
  ["entity_verification", "Who it is", "", { name: "Blue Door", verified: true }, /Blue Door/],
  ["pubmed_article", "Article", "", { pmid: "1", title: "Naps at night", authors: "Ada L", journal: "Sleep" }, /Naps at night/],
  ["pubmed_search_results", "Articles", "", { query: "naps", total_results: 2, articles: [{ pmid: "2", title: "Zebra naps" }, { pmid: "1", title: "Ant naps" }] }, /Zebra naps/],
  ["table", "Rows", "", { columns: ["name", "points"], rows: [["Ada", 7], ["Grace", 12]] }, /Grace/],
];
const shownByTool = [...given, ...others];

// The answers of the chat, and what each of their cards shows.
const parts = [
  ["These are given.", shownByTool.map((p) => p.at(-1))],
  ["These are marked.", marked.map((p) => p.at(-1))],
  ["These are shown.", [/value 42/, /board 1 of Ada and Grace/, /Of two lines/, /Grace/]],
];

export default async function keeps(t) {
  const [own, shows] = ["own", "shower"].map((name) => mkdtempSync(join(tmpdir(), `fettle-page-${name}-`)));
  t.closers.push(() => [own, shows].forEach((dir) => rmSync(dir, { recursive: true, force: true })));
  bundle(own, 1);
  shower(shows);
  const reads = calls - shownByTool.length - 1; // the bundle of views makes one call
  const args = ["--model", "script/model.yaml"];
  const server = await t.serve({
    args, toolsets: [own, shows],
    models: {
      "model.yaml": script([
        { when: "^given", step: 0, calls: [...Array.from({ length: reads }, (_, i) => call("list_files", { glob: `note-${i}.*` })), ...shownByTool.map(([kind, title, content, data]) => call("show", { kind, title, content, data: JSON.stringify(data) }))] },
        { when: "^given", step: 1, text: "These are given." },
        { when: "^marked", text: marked.map(([, marker, data]) => `${marker} ${JSON.stringify(data)}\n`).join("\n") + "\nThese are marked." },
        ...answers,
      ]),
    },
  });
  const { chat_id } = await server.turn("given");
  await server.turn("marked", { chat_id, context: { page: "gallery" } });
  await server.turn("show", { chat_id });
  const { calls: made } = await server.api(`/api/chats/${chat_id}/messages`);
  t.equal(made.length, calls, "calls");
  const first = await t.context({ width: 1700 });
  const path = `/c/${chat_id}`;
  const page = await t.open(server, { context: first, path });
  const was = await all(t, page);
  t.ok(was.size >= 25 + 4, `${was.size} payloads are 25 and the bundle's four`);
  await sorts(t, page);

  bundle(own, 2);
  server.run("toolset", "import", own, "--yes");
  await page.reload();
  await all(t, page, was, "after an update of the bundle and a reload");
  await page.close();

  for (const id of ["ownviews", "shower"]) server.run("toolset", "rm", id, "--yes");
  await server.restart(args);
  await all(t, await t.open(server, { context: await t.context({ width: 1700 }), path }), was, "after the bundles' removal and a restart, in a second browser");
}

/**
 * all goes through the cards of the chat and returns what each of them and its panel show. With
 * was it expects just that.
 */
async function all(t, page, was, when = "at first") {
  const panel = page.getByRole("complementary", { name: "Workspace" });
  const result = panel.getByRole("tabpanel", { name: "Result" });
  const shown = new Map();
  for (const [words, sees] of parts) {
    const answer = page.getByRole("article", { name: "Answer" }).filter({ hasText: words });
    await t.reveal(answer.first());
    const cards = answer.getByRole("list", { name: "What was made" }).getByRole("listitem");
    await cards.last().waitFor();
    t.equal(await cards.count(), sees.length, `cards of ${words} ${when}`);
    for (const [i, seen] of sees.entries()) {
      const card = cards.nth(i);
      const name = `${words} ${i}`;
      await card.getByRole("button", { name: "Open in workspace" }).click();
      const look = async () => `${await text(card)}\n— ${await panel.getByRole("heading", { level: 2 }).innerText()} —\n${await text(result)}`;
      shown.set(name, was ? await t.until(`${name} ${when} shows ${was.get(name)}`, look, (now) => now === was.get(name)) : await settled(t, name, look, seen));
    }
  }
  return shown;
}

/** settled returns a text once it has the words and stays the same: a view is drawn in steps. */
async function settled(t, name, look, words) {
  let last = "";
  let times = 0;
  return t.until(`${name} shows ${words}`, look, (now) => {
    times = now === last ? times + 1 : 0;
    last = now;
    return times >= 2 && words.test(now.slice(now.indexOf("\n— ")));
  });
}

/** text is what a card or panel shows: its text, its fields, and the page in its frame. */
async function text(place) {
  const fields = await place.locator("input, textarea").evaluateAll((found) => found.map((field) => field.value).join(" "));
  return `${await place.innerText()} ${fields} ${await framed(place)}`;
}

/** framed is what the frames within show: the page of an app is in a frame of its own. */
async function framed(place) {
  const frame = place.locator("iframe");
  if ((await frame.count()) === 0) return "";
  const page = frame.first().contentFrame().locator("body");
  const own = await page.innerText({ timeout: 2_000 }).catch(() => "");
  return own + (await framed(page));
}

/** sorts expects the articles of a PubMed search to be sorted by a header, by mouse and by keyboard. */
async function sorts(t, page) {
  const card = page.getByRole("list", { name: "What was made" }).getByRole("listitem").filter({ hasText: "Articles" });
  await card.getByRole("button", { name: "Open in workspace" }).click();
  const table = page.getByRole("complementary", { name: "Workspace" }).getByRole("table", { name: "Articles" });
  const firstRow = () => table.getByRole("row").nth(1).innerText();
  const header = table.getByRole("columnheader", { name: "Title" });
  await t.until("the articles in their order", firstRow, (row) => row.startsWith("Zebra naps"));
  t.equal(await header.getAttribute("aria-sort"), "none", "the header before a click");
  await header.getByRole("button").click();
  await t.until("the articles by title", firstRow, (row) => row.startsWith("Ant naps"));
  t.equal(await header.getAttribute("aria-sort"), "ascending", "the header after a click");
  await page.keyboard.press("Enter");
  await t.until("the articles by title, last first", firstRow, (row) => row.startsWith("Zebra naps"));
  t.equal(await header.getAttribute("aria-sort"), "descending", "the header after the key");
  await t.axe(page, "a PubMed search");
}
