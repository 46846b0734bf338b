// Each payload view with data that a tool or a model gave in a turn: it shows what is
// in it, and names no fault.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { project } from "../server.mjs";
import { chat } from "../kit.mjs";
import { call, script } from "../models.mjs";

// By a tool: type, title, content, data, and what is seen of it.
export const given = [
  ["draft", "Letter to the bakery", "# Dear bakers\n\nYour rye bread is *very* good.", null, /Dear bakers/],
  ["summary", "What was said", "Two points:\n\n- the first point\n- the second point", null, /the second point/],
  ["data", "Numbers", "", { orders: 23, customers: ["Łukasz Wójcik", "佐藤 遥"] }, /佐藤 遥/],
  ["code", "parse.py", "def parse(text):\n    return float(text)\n", { language: "python" }, /def parse/],
  ["agent_create", "New agent", "", { name: "Night editor", description: "Reads drafts at night", instructions: "Read each draft twice.", tools: ["read_file"], schedule: "every day at 22:00" }, /Night editor/],
  ["agent_update", "Changed agent", "", { agent_id: "night_editor", name: "Morning editor", instructions: "Read each draft once." }, /Morning editor/],
  ["table", "Customers", "", { columns: ["customer", "spent"], rows: [["Łukasz Wójcik", 1727.7], ["O'Brien & Sons", 399], ["Zoë Lindqvist", 280.95]] }, /O'Brien & Sons/],
  ["workflow_graph", "Take notes", "", { nodes: [{ id: "write", label: "Write it", type: "tool" }, { id: "read", label: "Read it", type: "agent" }], edges: [{ from: "write", to: "read" }] }, /Write it/],
  ["tool_history", "Calls", "", [{ tool_name: "read_file", input: { path: "orders.csv" }, output: "order,date" }, { tool_name: "write_file", input: { path: "summary.md" }, output: "made summary.md" }], /write_file/],
  ["research", "Plan", "", { question: "What lowers fatigue on night shifts?", aspects: ["planned naps", "bright light"], sources: ["workspace"] }, /planned naps/],
  ["made_up_type", "Something new", "Nobody knows this type.", { any: "thing" }, /Nobody knows this type/],
];

// By the model, in its text, on a page that takes them.
export const marked = [
  ["schema_proposal", "SCHEMA_PROPOSAL:", { proposed_changes: { stream_name: "Sleep and shifts" }, reasoning: "It is about shifts, too." }, /Sleep and shifts/],
  ["validation_results", "VALIDATION_RESULTS:", { valid: false, issues: [{ field: "topics", problem: "There is only one topic", suggestion: "Add the cost" }] }, /There is only one topic/],
  ["presentation_categories", "PRESENTATION_CATEGORIES:", { categories: [{ name: "Interventions", topics: ["naps", "light"] }] }, /Interventions/],
  ["stream_template", "STREAM_TEMPLATE:", { stream_name: "Night work", purpose: "Follow what helps", topics: [{ name: "Naps", description: "Planned naps at work" }] }, /Planned naps at work/],
  ["stream_suggestions", "STREAM_SUGGESTIONS:", { suggestions: [{ name: "Bright light", rationale: "Many trials last year" }] }, /Many trials last year/],
  ["portfolio_insights", "PORTFOLIO_INSIGHTS:", { summary: "Two streams overlap", insights: [{ title: "Overlap", detail: "Naps are in both" }] }, /Naps are in both/],
  ["quick_setup", "QUICK_SETUP:", { stream_name: "Fatigue", topic: "Fatigue of nurses" }, /Fatigue of nurses/],
];

// By the tools of real toolsets: the payloads of the chat stand before those of calls.
const real = [
  ["search_pubmed", { query: "night shift", source: "sample" }, /PMID|pubmed/i],
  ["get_pubmed_article", { pmid: "99000001", source: "sample" }, /99000001/],
  ["verify_business", { business_name: "Blue Door Bakery" }, /Blue Door Bakery/],
  ["collect_reviews", { business_name: "Blue Door Bakery", source: "all" }, /Blue Door Bakery/],
  ["analyze_reviews", { business_name: "Blue Door Bakery", source: "all" }, /Blue Door Bakery/],
  ["deep_research", { question: "What lowers fatigue on night shifts?", aspects: ["planned naps"], sources: ["workspace"] }, /planned naps/],
  ["profile_table", { filename: "sales.csv" }, /sales\.csv/],
];

export function shower(dir) {
  mkdirSync(join(dir, "tools"), { recursive: true });
  writeFileSync(join(dir, "tools/show.py"), 'import json\n\nfrom fettle import ToolResult\n\n\ndef run(workspace, kind, title, content, data):\n    return ToolResult(text=f"shown {kind}", workspace_payload={"type": kind, "title": title, "content": content, "data": json.loads(data)})\n');
  const string = { type: "string" };
  writeFileSync(join(dir, "toolset.yaml"), JSON.stringify({
    manifest_version: "1", id: "shower", name: "Shower", version: "1.0.0", description: "Shows payloads of any type",
    tools: [{ id: "show", name: "Show", description: "Shows a payload", entrypoint: "tools.show:run", input_schema: { type: "object", properties: { kind: string, title: string, content: string, data: string } } }],
    pages: [{ id: "gallery", payloads: marked.map(([type]) => type) }],
  }));
}

export default async function views(t) {
  const dir = mkdtempSync(join(tmpdir(), "fettle-page-shower-"));
  t.closers.push(() => rmSync(dir, { recursive: true, force: true }));
  shower(dir);
  const files = [
    call("write_file", { path: "naps.md", content: "# Naps\n\nPlanned naps of twenty minutes lower fatigue on night shifts, as three trials say.\n" }),
    call("write_file", { path: "sales.csv", content: "day,region,units,price\n2026-03-01,north,3,2.50\n2026-03-02,south,4,2.40\n2026-03-03,north,,2.60\n" }),
  ];
  const server = await t.serve({
    args: ["--model", "script/model.yaml"],
    toolsets: [dir, ...["reviews", "research", "research-streams"].map((id) => `gallery:${id}`), join(project, "testdata/toolsets/data-analysis")],
    models: {
      "model.yaml": script([
        { when: "^given", step: 0, calls: given.map(([kind, title, content, data]) => call("show", { kind, title, content, data: JSON.stringify(data) })) },
        { when: "^given", step: 1, text: "These are given." },
        { when: "^marked", text: marked.map(([type, marker, data]) => `Of ${type}:\n\n${marker} ${JSON.stringify(data)}\n`).join("\n") + "\nThese are marked." },
        { when: "^real", step: 0, calls: files },
        { when: "^real", step: 1, calls: real.map(([name, args]) => call(name, args)) },
        { when: "^real", step: 2, text: "These are real." },
      ]),
    },
  });
  const made = [["given", given.length, given.map((g) => g.at(-1))], ["marked", marked.length, marked.map((m) => m.at(-1))], ["real", real.length, real.map((r) => r.at(-1))]];
  const context = await t.context({ width: 1600 });
  for (const [what, count, sees] of made) {
    // A page's payloads are asked for by its program, others by a person.
    if (what === "marked") await server.turn(what, { context: { page: "gallery" } });
    const id = what === "marked" ? (await server.api("/api/chats")).chats.find((c) => c.preview === what)?.id : "";
    const page = await t.open(server, { context, path: id ? `/c/${id}` : "/" });
    if (!id) await chat(page).ask(what);
    const workspace = page.getByRole("complementary", { name: "Workspace" });
    const list = page.getByRole("list", { name: "What was made" }).getByRole("listitem");
    await page.getByText(`These are ${what}.`).waitFor();
    await chat(page).done();
    await list.first().waitFor();
    t.equal(await list.count(), count, `payloads of ${what}`);
    for (let i = 0; i < count; i++) {
      const name = `${what} ${i}`;
      await list.nth(i).getByRole("button", { name: "Open in workspace" }).click();
      const panel = workspace.getByRole("tabpanel", { name: "Result" });
      await seen(t, panel, sees[i], name);
      t.equal(await panel.getByText(/can't be shown|went wrong/).count(), 0, `faults in the view ${name}`);
      await t.axe(page, `the view ${name}`);
      await t.shot(page, name.replace(" ", "-"));
    }
    await page.close();
  }
}

/** seen waits for words in a view, or in the frame within it. */
async function seen(t, panel, words, name) {
  await t.until(`${words} in the view ${name}`, async () => {
    const own = await panel.innerText().catch(() => "");
    if (words.test(own)) return true;
    const labels = await panel.locator("[aria-label], input, textarea").evaluateAll((all) => all.map((e) => `${e.getAttribute("aria-label") ?? ""} ${"value" in e ? e.value : ""}`).join("\n")).catch(() => "");
    if (words.test(labels)) return true;
    const frame = panel.locator("iframe");
    if ((await frame.count()) === 0) return false;
    return words.test(await frame.first().contentFrame().locator("body").innerText({ timeout: 2000 }).catch(() => ""));
  });
}
