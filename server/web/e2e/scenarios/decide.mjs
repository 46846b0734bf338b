// Accept and Reject are in the card of a payload and in the panel, for what a tool gave and
// for what the model wrote. A decided card shows the decision, after a reload too.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chat } from "../kit.mjs";
import { call, script } from "../models.mjs";
import { marked, shower } from "./views.mjs";

const agent = { name: "Night editor", description: "Reads drafts at night", instructions: "Read each draft twice." };
const plan = { question: "What lowers fatigue?", aspects: ["planned naps"], sources: ["workspace"] };
const proposals = marked.filter(([type]) => type === "schema_proposal" || type === "quick_setup");

export default async function decide(t) {
  const dir = mkdtempSync(join(tmpdir(), "fettle-page-shower-"));
  t.closers.push(() => rmSync(dir, { recursive: true, force: true }));
  shower(dir);
  const given = [["agent_create", "Night editor", agent], ["research", "A plan", plan], ["draft", "A letter", null]];
  const server = await t.serve({
    args: ["--model", "script/model.yaml"], toolsets: [dir],
    models: {
      "model.yaml": script([
        { when: "^propose", step: 0, calls: given.map(([kind, title, data]) => call("show", { kind, title, content: data ? "" : "Dear bakers", data: JSON.stringify(data) })) },
        { when: "^propose", step: 1, text: proposals.map(([, marker, data]) => `${marker} ${JSON.stringify(data)}\n`).join("\n") + "\nThese are proposed." },
        { when: "", text: "Noted." },
      ]),
    },
  });
  const { chat_id } = await server.turn("propose", { context: { page: "gallery" } });
  const page = await t.open(server, { width: 1700, path: `/c/${chat_id}` });
  const card = (words) => page.getByRole("list", { name: "What was made" }).getByRole("listitem").filter({ hasText: words });
  const panel = page.getByRole("complementary", { name: "Workspace" });
  const result = panel.getByRole("tabpanel", { name: "Result" });
  const open = (words) => card(words).getByRole("button", { name: "Open in workspace" }).click();
  const says = (place, words) => place.getByRole("status").filter({ hasText: words }).waitFor();
  await page.getByText("These are proposed.").waitFor();
  t.equal(await card("A letter").getByRole("button", { name: "Accept" }).count(), 0, "a draft asks for no decision");
  for (const words of ["Night editor", "A plan", "Proposed changes", "Quick setup"]) {
    await card(words).getByRole("button", { name: "Accept", exact: true }).waitFor();
    await card(words).getByRole("button", { name: "Reject", exact: true }).waitFor();
  }
  await t.axe(page, "cards that can be decided");
  await t.shot(page, "cards");

  // In the card, with the same payload open in the panel: both show the decision.
  await open("Proposed changes");
  await card("Proposed changes").getByRole("button", { name: "Accept", exact: true }).click();
  await says(card("Proposed changes"), /^Accepted/);
  await says(result, /^Accepted/);
  await open("Night editor");
  await card("Night editor").getByRole("button", { name: "Accept", exact: true }).click();
  await says(card("Night editor"), /^Accepted/);
  await says(result, /^Accepted/);
  // In the panel.
  await open("Quick setup");
  await result.getByRole("textbox", { name: "What you say to it" }).fill("not yet");
  await result.getByRole("button", { name: "Reject", exact: true }).click();
  await says(card("Quick setup"), /^Rejected.*not yet/s);
  // Alone in the card.
  await card("A plan").getByRole("button", { name: "Reject", exact: true }).click();
  await says(card("A plan"), /^Rejected/);

  const { agents } = await server.api("/api/agents");
  t.ok(agents.some((a) => a.name === "Night editor"), `the accepted agent is among ${JSON.stringify(agents)}`);
  for (const context of [null, await t.context({ width: 1700 })]) {
    const at = context ? await t.open(server, { context, path: `/c/${chat_id}` }) : page;
    if (!context) await page.reload();
    const again = (words) => at.getByRole("list", { name: "What was made" }).getByRole("listitem").filter({ hasText: words });
    for (const [words, decided] of [["Night editor", /^Accepted/], ["Proposed changes", /^Accepted/], ["Quick setup", /^Rejected.*not yet/s], ["A plan", /^Rejected/]]) {
      await says(again(words), decided);
      t.equal(await again(words).getByRole("button", { name: /^(Accept|Reject)$/ }).count(), 0, `buttons of ${words}`);
    }
    await t.axe(at, "decided cards");
    await t.shot(at, context ? "second-browser" : "decided");
  }
  await chat(page).ask("and now?");
  await chat(page).done();
}
