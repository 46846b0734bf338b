// The first visit offers the toolsets that are part of fettle: one is looked at and left, then
// installed after its consent, and a chat uses one of its tools.
import { chat } from "../kit.mjs";
import { call, script } from "../models.mjs";

const model = script([
  { when: "^look", step: 0, text: "I read the reviews.", calls: [call("analyze_reviews", { business_name: "Blue Door Bakery", source: "all" })] },
  { when: "^look", step: 1, text: "These are the reviews." },
]);

export default async function gallery(t) {
  const server = await t.serve({ args: ["--model", "script/model.yaml"], models: { "model.yaml": model } });
  const page = await t.open(server);
  const ui = chat(page);
  const offer = page.getByRole("main").getByRole("region", { name: "Toolsets" });
  const offered = (await server.api("/api/gallery")).toolsets;
  const reviews = offered.find((s) => s.id === "reviews");
  await offer.waitFor();
  t.equal(await offer.getByRole("button").allInnerTexts(), offered.map((s) => s.name), "the toolsets that are offered");
  await t.axe(page, "the first visit");
  await t.shot(page, "first-visit");

  const choose = offer.getByRole("button", { name: reviews.name, exact: true });
  const sheet = page.getByRole("dialog", { name: `${reviews.name} ${reviews.version}` });
  const installed = async () => (await server.api("/api/toolsets")).toolsets.map((s) => s.id);
  await choose.click();
  await sheet.getByText("may read the chat's workspace only").first().waitFor();
  await t.axe(page, "the consent");
  await t.shot(page, "consent");
  await sheet.getByRole("button", { name: "Don’t install" }).click();
  await sheet.waitFor({ state: "detached" });
  t.equal(await installed(), [], "toolsets after a refusal");

  await choose.click();
  const approve = sheet.getByRole("button", { name: "Approve and install" });
  await approve.waitFor();
  const read = sheet.getByRole("checkbox");
  if ((await read.count()) > 0) await read.check();
  await approve.click();
  await page.getByRole("dialog", { name: "Toolsets" }).getByRole("heading", { name: `${reviews.name} ${reviews.version}` }).waitFor();
  t.equal(await installed(), ["reviews"], "toolsets after the consent");
  await page.keyboard.press("Escape");
  await offer.waitFor({ state: "detached" });

  await ui.ask("look at the bakery");
  await page.getByText("These are the reviews.").waitFor();
  const answer = await ui.done();
  await answer.getByRole("button", { name: /^analyze_reviews.*Done/ }).waitFor();
  await page.getByRole("complementary", { name: "Workspace" }).getByText("Blue Door Bakery").first().waitFor();
  await t.shot(page, "used");
  await page.reload();
  await page.getByText("These are the reviews.").waitFor();
}
