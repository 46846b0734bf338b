// A chat with 60 calls and payloads of every type, three of a bundle's own among them: after a
// reload, in a second browser, after a restart, an update of the bundles and their removal each
// card and each panel is as it was.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, script } from "../models.mjs";
import { answers, bundle } from "./own_views.mjs";
import { given, marked, shower } from "./views.mjs";

const calls = 60;
// The built-in types that views.mjs has by real toolsets.
const others = [
  ["research_result", "Findings", { question: "What helps?", summary: "Naps help.", findings: [], sources: [] }],
  ["review_collection", "Reviews", { business: { name: "Blue Door" }, reviews: [{ rating: 4, text: "Good rye bread" }] }],
  ["review_analysis", "Verdict", { business_name: "Blue Door", verdict: { summary: "Good bread" } }],
  ["entity_verification", "Who it is", { name: "Blue Door", verified: true }],
  ["pubmed_article", "Article", { pmid: "1", title: "Naps at night", authors: "Ada L", journal: "Sleep" }],
  ["pubmed_search_results", "Articles", { query: "naps", total_results: 2, articles: [{ pmid: "2", title: "Zebra naps" }, { pmid: "1", title: "Ant naps" }] }],
];

export default async function keeps(t) {
  const [own, shows] = ["own", "shower"].map((name) => mkdtempSync(join(tmpdir(), `fettle-page-${name}-`)));
  t.closers.push(() => [own, shows].forEach((dir) => rmSync(dir, { recursive: true, force: true })));
  bundle(own, 1);
  shower(shows);
  const payloads = [...given.map(([kind, title, content, data]) => [kind, title, content, data]), ...others.map(([kind, title, data]) => [kind, title, "", data])];
  const reads = calls - payloads.length - 1; // the bundle of views makes one call
  const args = ["--model", "script/model.yaml"];
  const server = await t.serve({
    args, toolsets: [own, shows],
    models: {
      "model.yaml": script([
        { when: "^given", step: 0, calls: [...Array.from({ length: reads }, (_, i) => call("list_files", { path: ".", limit: i + 1 })), ...payloads.map(([kind, title, content, data]) => call("show", { kind, title, content, data: JSON.stringify(data) }))] },
        { when: "^given", step: 1, text: "These are given." },
        { when: "^marked", text: marked.map(([, marker, data]) => `${marker} ${JSON.stringify(data)}\n`).join("\n") + "\nThese are marked." },
        ...answers,
      ]),
    },
  });
  const { chat_id } = await server.turn("given");
  await server.turn("marked", { chat_id, context: { page: "gallery" } });
  await server.turn("show", { chat_id });
  const count = payloads.length + marked.length + 3;
  t.ok(count >= 25, `${count} payloads`);
  const view = async (context) => {
    const page = await t.open(server, { context, path: `/c/${chat_id}` });
    const seen = await all(t, page, count);
    await page.close();
    return seen;
  };
  const first = await t.context({ width: 1700 });
  const want = await view(first);
  t.equal((await server.api(`/api/chats/${chat_id}/messages`)).calls.length, calls, "calls");
  await sorts(t, await t.open(server, { context: first, path: `/c/${chat_id}` }));
  const same = async (when, context) => t.equal(await view(context), want, when);
  await same("after a reload", first);
  bundle(own, 2);
  server.run("toolset", "import", own, "--yes");
  await same("after an update of the bundle", first);
  for (const id of ["ownviews", "shower"]) server.run("toolset", "rm", id, "--yes");
  await same("after the removal of the bundles", first);
  await server.restart(args);
  await same("after a restart, in a second browser", await t.context({ width: 1700 }));
}

/** all is what each card of the chat and its panel show, by the card's place. */
async function all(t, page, count) {
  const panel = page.getByRole("complementary", { name: "Workspace" });
  const result = panel.getByRole("tabpanel", { name: "Result" });
  await page.getByText("These are shown.").waitFor();
  const answers = page.getByRole("article", { name: "Answer" });
  const seen = [];
  for (const words of ["These are given.", "These are marked.", "These are shown."]) {
    const cards = answers.filter({ hasText: words }).getByRole("list", { name: "What was made" }).getByRole("listitem");
    await answers.filter({ hasText: words }).first().scrollIntoViewIfNeeded();
    await cards.first().waitFor();
    const n = await cards.count();
    for (let i = 0; i < n; i++) {
      const card = cards.nth(i);
      await card.getByRole("button", { name: "Open in workspace" }).click();
      await result.getByRole("group", { name: /^(Show as|Form)$/ }).or(result.getByRole("button", { name: "Copy" })).first().waitFor();
      let last = null; // a view is drawn in several steps, and then looked at
      let times = 0;
      await t.until("the panel has drawn the result", () => text(result), (now) => {
        times = now === last ? times + 1 : 0;
        last = now;
        return now !== "" && times >= 4;
      });
      seen.push({ card: (await card.innerText()).split("\n")[0], title: await panel.getByRole("heading", { level: 2 }).innerText(), shows: await text(result) });
    }
  }
  t.equal(seen.length, count, "cards");
  return seen.map(({ card, title, shows }) => `${card} | ${title} | ${shows}`);
}

/** text is what a panel shows, with the text of the page in it. */
async function text(panel) {
  const own = await panel.innerText();
  const frame = panel.locator("iframe");
  if ((await frame.count()) === 0) return own;
  return own + (await frame.contentFrame().locator("body").innerText({ timeout: 2_000 }).catch(() => ""));
}

/** sorts expects the articles of a PubMed search to be sorted by a header, by mouse and by keyboard. */
async function sorts(t, page) {
  const card = page.getByRole("list", { name: "What was made" }).getByRole("listitem").filter({ hasText: "Articles" });
  await page.getByText("These are shown.").waitFor();
  await page.getByRole("article", { name: "Answer" }).first().scrollIntoViewIfNeeded();
  await card.getByRole("button", { name: "Open in workspace" }).click();
  const table = page.getByRole("table", { name: "Articles" });
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
  await page.close();
}
