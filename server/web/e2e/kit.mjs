// What a scenario works with: servers, pages of one browser, and what they are held
// against. All waits are for conditions, and end in a failure that says which.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { axeSource } from "./packages.mjs";
import { serve } from "./server.mjs";

/** patience bounds each wait: a machine that is busy with other tests is slow, not wrong. */
export const patience = 60_000;

const logLines = 40; // of a server, in a failure

/** Kit is made for one scenario. What it starts, it ends. */
export class Kit {
  constructor(browser, name) {
    Object.assign(this, { browser, name, servers: [], contexts: [], pages: [], closers: [], faults: [], allowed: [], figures: [] });
  }

  /** serve starts a server; see server.mjs. */
  async serve(options) {
    const server = await serve(options);
    this.servers.push(server);
    return server;
  }

  /** listen answers on a free port of this machine until the scenario ends. */
  async listen(handler) {
    const server = createServer(handler);
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.closers.push(() => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    });
    return { server, origin: `http://127.0.0.1:${server.address().port}` };
  }

  /** allow takes messages of the browser's console that a scenario provokes. */
  allow(...patterns) {
    this.allowed.push(...patterns);
  }

  /** context is a browser of its own: storage and cache. */
  async context({ width = 1440, height = 900, theme = "dark", ...options } = {}) {
    const context = await this.browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce", ...options });
    context.setDefaultTimeout(patience);
    this.contexts.push(context);
    context.on("page", (page) => this.watch(page));
    return context;
  }

  /** open opens the page of a server, as the address that it printed does. */
  async open(server, options = {}) {
    const context = options.context ?? (await this.context(options));
    const page = await context.newPage();
    await page.goto(`${options.origin ?? server.url}${options.path ?? "/"}#token=${server.token}`);
    return page;
  }

  watch(page) {
    this.pages.push(page);
    page.on("pageerror", (error) => this.fault(`the page threw ${error.stack ?? error}`));
    page.on("console", (m) => {
      // A chat whose first turn still runs has nothing yet: the page asks, and follows the turn.
      if (m.type() === "error" && !/409 .*\/api\/chats\/\w+\/(messages\?|payloads)/.test(`${m.text()} ${m.location().url}`)) this.fault(`the console has: ${m.text()} (${m.location().url})`);
    });
  }

  fault(text) {
    if (!this.allowed.some((pattern) => pattern.test(text))) this.faults.push(text);
  }

  /** ok holds that something is so; what says what. */
  ok(value, what) {
    if (!value) throw new Error(`${this.name}: not so: ${what}`);
  }

  equal(got, want, what) {
    if (!isDeepStrictEqual(got, want)) throw new Error(`${this.name}: ${what}:\n got ${JSON.stringify(got, null, 1)}\nwant ${JSON.stringify(want, null, 1)}`);
  }

  /** until asks again until an answer is good, and gives it. */
  async until(what, ask, good = Boolean) {
    const end = Date.now() + patience;
    let last;
    while (Date.now() < end) {
      last = await ask();
      if (good(last)) return last;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`${this.name}: ${what} didn't come about in ${patience / 1000} s; the last was ${JSON.stringify(last)}`);
  }

  /** reveal scrolls to an element, which the page may replace while it loads. */
  async reveal(place) {
    await this.until(`scrolling to ${place}`, () => place.scrollIntoViewIfNeeded({ timeout: 5_000 }).then(() => true, () => false));
  }

  /** axe fails on what keeps people out: serious and critical findings. rules are those wanted, where not all are. */
  async axe(page, state, rules) {
    if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axeSource());
    const { violations } = await page.evaluate((only) => window.axe.run(document, { resultTypes: ["violations"], ...(only ? { runOnly: { type: "rule", values: only } } : {}) }), rules);
    const grave = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
    const lines = grave.flatMap((v) => [`${v.impact}: ${v.id}: ${v.help}`, ...v.nodes.slice(0, 3).map((n) => `    ${n.html.slice(0, 200)}\n      ${(n.failureSummary ?? "").replace(/\n\s*/g, " ").slice(0, 300)}`)]);
    if (lines.length > 0) this.faults.push(`axe finds in ${state}:\n  ${lines.join("\n  ")}`);
  }

  /** shot takes a picture into FETTLE_PAGE_SHOTS, where that is set. */
  async shot(page, name) {
    const dir = process.env.FETTLE_PAGE_SHOTS;
    if (!dir) return;
    mkdirSync(dir, { recursive: true });
    await page.screenshot({ path: join(dir, `${this.name}-${name}.png`) });
  }

  /** figure notes what was measured; the run prints it. */
  figure(text) {
    this.figures.push(text);
  }

  /** tell is all that a failure has to show. */
  async tell(error) {
    const lines = [String(error?.stack ?? error)];
    let dir = process.env.FETTLE_PAGE_SHOTS;
    for (const [i, page] of this.pages.entries()) {
      if (page.isClosed()) continue;
      try {
        dir ||= mkdtempSync(join(tmpdir(), "fettle-page-failed-"));
        mkdirSync(dir, { recursive: true });
        const file = join(dir, `${this.name}-failed-${i}.png`);
        await page.screenshot({ path: file, timeout: 10_000 });
        const tree = await page.locator("body").ariaSnapshot({ timeout: 10_000 });
        writeFileSync(file.replace(/png$/, "yaml"), tree);
        lines.push(`page ${i} at ${page.url().replace(/#.*/, "")}, as in ${file}:`, indent(tree.split("\n").slice(0, 120).map((line) => line.slice(0, 300)).join("\n")));
      } catch (problem) {
        lines.push(`page ${i} shows nothing: ${problem}`);
      }
    }
    for (const server of this.servers) lines.push("the end of the server's log:", indent(server.log.trim().split("\n").slice(-logLines).join("\n")));
    return lines.join("\n");
  }

  /** end ends what was started, and gives the faults that nobody expected. */
  async end() {
    for (const context of this.contexts) await context.close().catch(() => {});
    for (const close of this.closers.reverse()) await close();
    for (const server of this.servers) await server.end();
    return this.faults;
  }
}

function indent(text) {
  return text.replace(/^/gm, "    ");
}

/** chat is the page as a person uses it. */
export function chat(page) {
  const message = page.getByRole("textbox", { name: "Message", exact: true });
  return {
    message,
    /** ask sends a question by Enter. */
    async ask(text) {
      await message.fill(text);
      await message.press("Enter");
    },
    answers: page.getByRole("article", { name: "Answer" }),
    /** done waits for the answer's end, and gives the last one. */
    async done() {
      await page.locator('article[aria-label="Answer"][aria-busy="false"]').last().waitFor();
      await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
      return page.getByRole("article", { name: "Answer" }).last();
    },
    /** card is the card of a call. */
    card: (tool) => page.getByRole("article", { name: "Answer" }).getByRole("button", { name: new RegExp(`^${tool}`), expanded: undefined }),
    tab: (name) => page.getByRole("tab", { name, exact: true }),
  };
}
