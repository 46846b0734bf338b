// How the page looks, in both themes, on a desktop and a phone: each main state is
// measured by e2e/look.mjs and by axe, and a picture of it is taken where
// FETTLE_PAGE_SHOTS names a folder for pictures. A state that is found faulty doesn't
// end the scenario: all faults are told at its end.
import { join } from "node:path";
import { chat } from "../kit.mjs";
import { faultsOf } from "../look.mjs";
import { call, script } from "../models.mjs";
import { project } from "../server.mjs";

const asker = join(project, "server/web/e2e/asker.mjs");

const rich = `# Slow tests, and what to do

Three tests take over a second. **TestImportOfALargeBundle** is the slowest; it packs *the whole* folder each time, as \`pack()\` in [bundle.go](https://example.org/) shows.

| test | time | what it waits for | since |
|---|--:|---|---|
| TestImportOfALargeBundle | 4.1 s | packing 12,000 files | March |
| TestServerDrains | 2.8 s | its own timeout | always |
| TestSyncCoversFullMemtables | 1.3 s | the disk | v0.4 |

\`\`\`go
// pack writes a bundle of all that is in dir.
func pack(dir string, out io.Writer) error {
	files, err := walk(dir) // this line is long on purpose, so that a phone has to scroll it sideways to its end
	if err != nil {
		return fmt.Errorf("pack %s: %w", dir, err)
	}
	return write(out, files)
}
\`\`\`

1. Pack once, and share it.
2. Give the server a clock.
   - \`synctest\` has one
   - so has the test kit

- [x] measured
- [ ] mended

> The rest is fast: 812 tests in 9 s.

עברית ואנגלית: the word of forty letters is Donaudampfschifffahrtselektrizitätenhauptbetriebswerk.
`;
const long = "Please look at what was said last Tuesday about the release, the changelog and the three tests that take over a second, and tell me what is left to do before Friday";
const command = "go test -json ./... | tee /tmp/all-tests.json | jq -r 'select(.Action == \"pass\" and .Elapsed > 1) | [.Package, .Test, .Elapsed] | @tsv' | sort -k3 -rn | head -20";
const slow = Array.from({ length: 400 }, (_, i) => ({ wait: "2s", content: `slow${i} ` })); // longer than anybody looks

const model = script([
  { when: "^rich", step: 0, reasoning: "The files first.\n\nThen the tests, of which three are slow.", text: "I look at the tests first.", calls: [call("write_file", { path: "notes/plan.md", content: "# Plan\n\n- one\n- two\n" }), call("read_file", { path: "a-file-that-is-not-there.txt" }), call("list_directory", { path: "." })] },
  { when: "^rich", step: 1, text: rich },
  { when: "^Please look", text: "There is nothing left." },
  { when: "^files", step: 0, calls: [call("write_file", { path: "src/a-folder-with-a-rather-long-name/and-a-file-whose-name-is-long-too.js", content: "export const limit = 10;\n" }), call("write_file", { path: "notes/plan.md", content: "# Plan\n\n- one\n- two\n" })] },
  { when: "^files", step: 1, text: "They are written." },
  { when: "^change", step: 0, calls: [call("write_file", { path: "notes/plan.md", content: "# Plan\n\n- one, in other words\n- two\n- three\n" })] },
  { when: "^change", step: 1, text: "It is changed." },
  { when: "^run", step: 0, text: "I need a command for that.", calls: [call("run_command", { command })] },
  { when: "^run", step: 1, text: "Then not." },
  { when: "^form", step: 0, calls: [call("order")] },
  { when: "^form", step: 1, text: "Asked." },
  { when: "^reviews", step: 0, calls: [call("analyze_reviews", { business_name: "Blue Door Bakery", source: "all" }), call("collect_reviews", { business_name: "Blue Door Bakery", source: "all" })] },
  { when: "^reviews", step: 1, text: "These are the reviews." },
  { when: "^board", step: 0, calls: [call("show", { note: "buy rye flour" })] },
  { when: "^board", step: 1, text: "It is on the board." },
  { when: "^fail", error: { kind: "unreachable", message: "the model can't be reached" } },
  { when: "^slowly", deltas: slow },
  { when: "", text: "Noted." },
]);

const dot = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const windows = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844, hasTouch: true, isMobile: true } };

export default async function look(t) {
  const server = await t.serve({
    args: ["--model", "script/model.yaml"],
    models: { "model.yaml": model },
    toolsets: ["gallery:reviews", join(project, "testdata/toolsets/board")],
    before: (s) => s.run("mcp", "add", "bakery", "--", process.execPath, asker),
  });
  t.allow(/net::ERR_|status of (404|409|500|503)|Content Security Policy|sandbox/i);
  const made = await prepare(t, server);
  await Promise.all(Object.entries(windows).map(([device, size]) => new Visit(t, server, { device, size, made }).all()));
}

/** prepare makes the chats that are looked at; two of their turns wait for a person, one goes on. */
async function prepare(t, server) {
  const made = {};
  for (let i = 0; i < 16; i++) await server.turn(i % 3 ? `note ${i}: what was said of the weather in the north` : long);
  for (const name of ["rich", "files", "reviews", "board"]) made[name] = (await server.turn(name)).chat_id;
  await server.turn("change", { chat_id: made.files });
  await server.turn("fail", { chat_id: (made.fail = (await server.turn("note")).chat_id) });
  const { states } = await server.api(`/api/chats/${made.files}/workspace/states`);
  t.ok(states.length > 2, "the files have states");
  await branch(server, made.files);
  for (const [path, body] of [["images/dot.png", dot], ["blob.bin", Buffer.from(Array.from({ length: 2000 }, (_, i) => i & 255))], ["tone.wav", sound(3)], ["empty.txt", ""]]) {
    const res = await fetch(`${server.url}/api/chats/${made.files}/workspace/files/${path}`, { method: "PUT", body, headers: { Authorization: `Bearer ${server.token}`, "Content-Type": "application/octet-stream" } });
    t.ok(res.ok, `${path} is written: ${res.status}`);
  }
  made.form = await formOf(t, server);
  const waits = await server.api("/api/turns", { method: "POST", body: { message: "run", confirm: true, forms: true } });
  made.run = waits.chat_id;
  made.fork = (await server.api("/api/turns", { method: "POST", body: { message: "slowly", chat_id: made.rich, fork: true } })).chat_id;
  return made;
}

/** branch asks the last question in other words, so that there are two branches. */
async function branch(server, id) {
  const { messages } = await server.api(`/api/chats/${id}/messages`);
  const asked = messages.filter((m) => m.role === "user").at(-1);
  const started = await server.api(`/api/chats/${id}/edit`, { method: "POST", body: { message_id: asked.id, message: "change it again" } });
  await server.api(`/api/turns/${started.turn_id}/events`, { raw: true });
}

/** formOf has a tool ask for a form, and gives the chat that waits for it. */
async function formOf(t, server) {
  const started = await server.api("/api/turns", { method: "POST", body: { message: "form", confirm: true, forms: true } });
  const asks = () => server.api(`/api/turns/${started.turn_id}/approvals`).then((r) => r.approvals);
  const [first] = await t.until("the call asks", asks, (list) => list.length > 0);
  await server.api(`/api/turns/${started.turn_id}/confirm`, { method: "POST", body: { tool_use_id: first.tool_use_id, nonce: first.nonce, decision: "allow" } });
  await t.until("the call asks for a form", asks, (list) => list.some((a) => a.tool_use_id !== first.tool_use_id));
  return started.chat_id;
}

/** sound is a WAV of so many seconds. */
function sound(seconds, rate = 8000) {
  const head = Buffer.alloc(44);
  const bytes = seconds * rate;
  head.write("RIFF");
  head.writeUInt32LE(36 + bytes, 4);
  head.write("WAVEfmt ", 8);
  for (const [value, at] of [[16, 16], [rate, 24], [rate, 28], [bytes, 40]]) head.writeUInt32LE(value, at);
  for (const [value, at] of [[1, 20], [1, 22], [1, 32], [8, 34]]) head.writeUInt16LE(value, at);
  head.write("data", 36);
  return Buffer.concat([head, Buffer.alloc(bytes, 128)]);
}

/** Visit goes through all states in one window. */
class Visit {
  constructor(t, server, options) {
    Object.assign(this, { t, server, ...options, narrow: options.device === "phone", seen: 0 });
  }

  async all() {
    this.context = await this.t.context(this.size);
    this.page = await this.t.open(this.server, { context: this.context });
    for (const part of ["empty", "answers", "waiting", "forks", "files", "states", "settings", "chats", "faults"]) await this[part]();
    await this.context.close();
  }

  /** see measures what is shown in each theme, and takes its picture. */
  async see(state) {
    const { page, t } = this;
    // A button with the focus or the pointer has its tooltip over what is to be seen,
    // which takes the next Escape, too.
    await page.mouse.move(0, 0);
    await page.evaluate(() => document.activeElement?.matches("button") && !document.activeElement.closest("[role=dialog], [role=menu]") && document.activeElement.blur());
    for (const theme of ["dark", "light"]) {
      const where = `${state}, ${this.device}, ${theme}`;
      await page.emulateMedia({ colorScheme: theme });
      await page.waitForFunction((name) => document.documentElement.dataset.theme === name, theme);
      await t.shot(page, `${state.replaceAll(" ", "-")}-${this.device}-${theme}`);
      const faults = await faultsOf(page, { touch: this.narrow });
      if (faults.length > 0) t.faults.push(`${where}:\n    ${faults.join("\n    ")}`);
      // What is no colour is the same in both.
      await t.axe(page, where, theme === "dark" ? undefined : ["color-contrast"]);
    }
  }

  async go(path, ready) {
    await this.page.goto(`${this.server.url}${path}`);
    await this.panel("Chat");
    await ready?.waitFor();
  }

  /** panel shows one of the panels, where one at a time is shown. */
  async panel(name) {
    if (this.narrow) await this.page.getByRole("navigation", { name: "Panels" }).getByRole("button", { name, exact: true }).click();
    else if (name === "Tools") {
      const show = this.page.getByRole("button", { name: "Show tools and settings" });
      if (await show.isVisible()) await show.click();
    }
  }

  get ui() {
    return chat(this.page);
  }

  async settled() {
    await this.t.until("all has loaded", async () => (await this.page.locator(".animate-pulse").count()) === 0);
  }

  async empty() {
    await this.page.getByRole("heading", { name: "What shall be done?" }).waitFor();
    await this.see("empty");
    await this.panel("Workspace");
    await this.page.getByRole("tab", { name: "Result" }).waitFor();
    await this.see("empty workspace");
    await this.ui.tab("Files").click();
    await this.settled();
    await this.see("empty files");
  }

  async answers() {
    const { page } = this;
    await this.go(`/c/${this.made.rich}`, page.getByText("812 tests"));
    await this.see("answer end");
    const log = page.getByRole("log", { name: "Messages" });
    await log.evaluate((l) => (l.closest(".scroll-y") ?? l.querySelector(".scroll-y") ?? l).scrollTo(0, 0));
    const answer = this.ui.answers.first();
    await this.see("answer");
    await answer.getByRole("button", { name: /^write_file/ }).click();
    await answer.getByRole("list", { name: "Files changed" }).waitFor();
    await answer.getByRole("button", { name: /^read_file/ }).click();
    await this.see("tools open");
    await answer.getByRole("button", { name: "Open in workspace" }).first().click();
    await page.getByRole("tab", { name: "Input" }).waitFor();
    await this.settled();
    await this.see("a call");
    await this.panel("Chat");
    await page.getByRole("button", { name: "Chat menu" }).click();
    await page.getByRole("menu").waitFor();
    await this.see("chat menu");
    await page.keyboard.press("Escape");
  }

  async waiting() {
    const { page } = this;
    await this.go(`/c/${this.made.run}`);
    const card = page.getByRole("region", { name: /run_command needs your approval/ });
    await this.t.until("it can be allowed", () => card.getByRole("button", { name: "Allow once" }).isEnabled());
    await this.see("approval");
    await this.go(`/c/${this.made.form}`);
    await page.getByText("What bread shall it be?").waitFor();
    await this.t.until("it can be sent", () => page.getByRole("button", { name: "Send", exact: true }).last().isEnabled());
    await this.see("form");
    await this.go(`/c/${this.made.reviews}`, page.getByText("These are the reviews."));
    await this.see("payload in chat");
    await page.getByRole("list", { name: "What was made" }).getByRole("button", { name: "Open in workspace" }).first().click();
    await page.getByText("Blue Door Bakery").first().waitFor();
    await this.settled();
    await this.see("payload to decide");
  }

  async forks() {
    const { page, made } = this;
    await this.go(`/c/${made.fork}`, page.getByText("812 tests"));
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
    await page.getByText("slow0").first().waitFor();
    await this.see("fork");
  }

  async files() {
    const { page } = this;
    await this.go(`/c/${this.made.files}`, page.getByText("Noted.").or(page.getByText("It is changed.")).first());
    await this.panel("Workspace");
    await this.ui.tab("Files").click();
    const panel = page.getByRole("tabpanel", { name: "Files" });
    const tree = panel.getByRole("tree", { name: "Files" });
    await tree.getByRole("treeitem").first().waitFor();
    for (const folder of ["src", "notes", "images"]) {
      const item = tree.getByRole("treeitem", { name: new RegExp(`^${folder}`) }).first();
      if ((await item.getAttribute("aria-expanded")) === "false") await item.click();
    }
    await this.see("files");
    for (const [name, ready] of [["plan.md", null], ["dot.png", "1 × 1"], ["tone.wav", null], ["blob.bin", /Binary, /]]) {
      const back = panel.getByRole("button", { name: "Back to the files" });
      if (await back.isVisible()) await back.click();
      await tree.getByRole("treeitem", { name, exact: false }).click();
      await panel.getByRole("heading", { name }).waitFor();
      if (ready) await panel.getByText(ready).first().waitFor();
      await this.settled();
      await this.see(`file ${name}`);
    }
    const back = panel.getByRole("button", { name: "Back to the files" });
    if (await back.isVisible()) await back.click();
    await page.getByLabel("Files to upload").setInputFiles({ name: "tone.wav", mimeType: "audio/wav", buffer: sound(1) });
    await this.dialog("1 file is there already", "overwrite");
  }

  /** dialog looks at the dialog that opens, and closes it by a key. */
  async dialog(name, state) {
    const { page } = this;
    const sheet = page.getByRole("dialog", { name, exact: true });
    await sheet.waitFor();
    await this.settled();
    await this.see(state);
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
  }

  async states() {
    const { page } = this;
    await this.go(`/c/${this.made.files}`);
    await this.panel("Workspace");
    await this.ui.tab("Timeline").click();
    const grid = page.getByRole("grid", { name: "States, the latest first" });
    const ended = grid.getByRole("row").filter({ hasText: "end of the branch" }).first();
    await ended.waitFor();
    await this.see("timeline");
    await ended.getByRole("button", { name: /^More about/ }).click();
    await this.see("timeline menu");
    await page.getByRole("menuitem", { name: "What it changed" }).click();
    await page.getByText("+- three").or(page.getByText("- three")).first().waitFor();
    await this.see("state diff");
    await page.keyboard.press("Escape");
  }

  async settings() {
    const { page } = this;
    await this.go("/");
    await this.panel("Tools");
    for (const tab of ["Tools", "Agents", "Assets", "Settings"]) {
      await this.ui.tab(tab).click();
      await page.getByRole("tabpanel", { name: tab }).waitFor();
      await this.settled();
      await this.see(`panel ${tab.toLowerCase()}`);
      if (tab !== "Agents") continue;
      await page.getByRole("button", { name: "Details of Advisor" }).click();
      await this.dialog("Advisor", "an agent");
    }
    await page.getByRole("heading", { name: "MCP servers" }).evaluate((h) => h.scrollIntoView());
    await this.see("mcp servers");
    await page.getByRole("tabpanel", { name: "Settings" }).getByRole("button", { name: "Toolsets" }).click();
    await page.getByRole("dialog", { name: "Toolsets" }).waitFor();
    await this.settled();
    await this.see("toolsets");
    await page.getByRole("button", { name: "Details of Reviews" }).click();
    await this.dialog("Reviews 1.0.0", "toolset details");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("tabpanel", { name: "Settings" }).getByRole("button", { name: "Shortcuts" }).click();
    await this.dialog("Shortcuts", "shortcuts");
  }

  async chats() {
    const { page } = this;
    await this.panel("Chats");
    await page.getByRole("list", { name: "Chats" }).getByRole("listitem").first().waitFor();
    await this.see("chats");
    const search = page.getByRole("searchbox", { name: "Search chats" });
    await search.fill("weather north");
    await page.getByText("weather in the north").first().waitFor();
    await this.settled();
    await this.see("search");
    await search.fill("zzzzqqqq");
    await this.settled();
    await page.getByText(/zzzzqqqq/).first().waitFor();
    await this.see("search without results");
    await search.fill("");
    await page.getByRole("button", { name: "Deleted chats" }).click();
    await this.settled();
    await this.see("deleted chats");
    await page.getByRole("button", { name: "Back to the chats" }).first().click();
  }

  async faults() {
    const { page } = this;
    await this.go(`/c/${this.made.fail}`, page.getByRole("button", { name: "Try again" }).first());
    await this.see("failure");
    await page.route("**/api/**", (route) => route.abort());
    await page.getByRole("button", { name: "Try again" }).first().click();
    await page.getByRole("alert").first().waitFor();
    await this.see("server gone");
    await this.panel("Tools");
    if (!this.narrow) await this.ui.tab("Agents").click();
    await page.unrouteAll({ behavior: "wait" });
  }
}
