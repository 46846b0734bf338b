// <fettle-chat> on a page of another origin, which shows a payload in its own way.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chat } from "../kit.mjs";
import { script } from "../models.mjs";
import { answers, bundle } from "./own_views.mjs";

const model = script([
  { when: "^propose", text: 'Here it is:\n\nSCHEMA_PROPOSAL: {"proposed_changes": {"stream_name": "Night shifts"}, "reasoning": "It says what it is about."}\n\nShall I?' },
  { when: "their program reported", text: "The model knows that it was done." },
  { when: "suggest$", text: 'SUGGESTED_ACTIONS: [{"label": "Apply it", "type": "apply_schema_proposal", "metadata": {"stream": 7}}]\n\nShall the page do it?' },
  ...answers,
  { when: "", text: "An **answer** from afar." },
]);

const host = (server) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>A page of others</title>
<style>p { color: red; font-size: 40px } fettle-chat { display: block; height: 700px }</style>
<h1>A page of others</h1><div id="accepted"></div>
<fettle-chat server="${server.url}" token="${server.token}" page="edit_research_stream" tab="semantic" context='{"stream": {"name": "Sleep"}}'></fettle-chat>
<script type="module">
import { getPayloadHandler, registerPayloadHandler } from "${server.url}/embed.js";
document.querySelector("fettle-chat").payloadHandlers = {
  schema_proposal: {
    render(payload, { onAccept }) {
      const made = document.createElement("div");
      const button = document.createElement("button");
      button.textContent = "Take it over";
      button.onclick = () => onAccept?.(payload);
      made.append("Host: " + payload.proposed_changes.stream_name, button);
      return made;
    },
    onAccept(data) { document.querySelector("#accepted").textContent = "accepted " + data.proposed_changes.stream_name; },
  },
};
window.actions = [];
document.querySelector("fettle-chat").addEventListener("fettle-action", ({ detail }) => {
  window.actions.push([detail.action, detail.data]);
  detail.acknowledge(Promise.resolve(true));
});
registerPayloadHandler("note_of_host", { render: () => "a note" });
window.known = typeof getPayloadHandler("note_of_host")?.render;
</script></html>`;

export default async function embed(t) {
  let server = null;
  const own = mkdtempSync(join(tmpdir(), "fettle-page-own-"));
  t.closers.push(() => rmSync(own, { recursive: true, force: true }));
  bundle(own, 1);
  const { origin } = await t.listen((request, response) => {
    response.setHeader("Content-Type", request.url === "/" ? "text/html; charset=utf-8" : "image/svg+xml");
    response.end(request.url === "/" ? host(server) : "<svg xmlns='http://www.w3.org/2000/svg'/>");
  });
  server = await t.serve({
    args: ["--model", "script/model.yaml", "--allow-origin", origin], models: { "model.yaml": model },
    toolsets: ["gallery:research-streams", own],
  });
  const page = await (await t.context()).newPage();
  await page.goto(origin);
  const ui = chat(page);
  await ui.ask("hello");
  await page.getByText("from afar").waitFor();
  await ui.done();
  t.equal(await page.evaluate(() => window.known), "function", "a handler that was registered is found");
  const colour = await page.getByText("from afar").evaluate((e) => getComputedStyle(e.closest("p") ?? e).color);
  t.ok(colour !== "rgb(255, 0, 0)", "the host's styles stay out");
  await t.shot(page, "answer");

  await ui.ask("propose something");
  await page.getByText("Shall I?").waitFor();
  const answer = await ui.done();
  const take = page.getByRole("button", { name: "Take it over" });
  if (!(await take.isVisible())) await answer.getByRole("button", { name: "Open in workspace" }).first().click();
  await page.getByText("Host: Night shifts").waitFor();
  await t.shot(page, "payload");
  await take.click();
  await page.getByText("accepted Night shifts").waitFor();
  await t.axe(page, "the component on another page");
  // Accepting asks the page for the action of the payload's type, and so does a suggestion.
  await t.until("the action of the accepted payload", () => page.evaluate(() => window.actions), (all) => all.length === 1 && all[0][0] === "apply_schema_proposal");
  await ui.ask("suggest");
  await page.getByRole("button", { name: "Apply it" }).click();
  await page.getByText("The model knows that it was done.").waitFor();
  t.equal((await page.evaluate(() => window.actions)).at(-1), ["apply_schema_proposal", { stream: 7 }], "the action that the host was given");
  // Views of a bundle's own, as on fettle's page: in the card, and where the card is opened.
  await ui.ask("show");
  await page.getByText("These are shown.").waitFor();
  const sheet = page.getByRole("region", { name: /^(Header|Board) 1$/ });
  for (const [label, drawn] of [
    ["Dial 1", (at) => at.locator("iframe").contentFrame().getByText("value 42")],
    ["Board 1", (at) => at.locator("iframe").contentFrame().locator("iframe").contentFrame().getByText("board 1 of Ada and Grace")],
  ]) {
    const card = page.getByRole("list", { name: "What was made" }).getByRole("listitem").filter({ hasText: label });
    await t.reveal(card);
    await drawn(card).waitFor();
    await card.getByRole("button", { name: "Open in workspace" }).click();
    await drawn(sheet).waitFor();
  }
  await t.shot(page, "own-views");
  const chats = (await server.api("/api/chats")).chats;
  t.equal(chats.length, 1, "chats");

  // Another origin may not, whatever it knows.
  t.allow(/CORS policy/, /net::ERR_FAILED/);
  const { origin: stranger } = await t.listen((_, response) => response.setHeader("Content-Type", "text/html").end("<title>stranger</title>"));
  const other = await (await t.context()).newPage();
  await other.goto(stranger);
  const reached = await other.evaluate(([url, token]) => fetch(`${url}/api/chats`, { headers: { Authorization: `Bearer ${token}` } }).then((r) => r.status, (e) => String(e)), [server.url, server.token]);
  t.ok(/TypeError/.test(String(reached)), `a page that wasn't allowed reads nothing: ${reached}`);
}
