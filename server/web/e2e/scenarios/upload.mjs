// A large file is uploaded with its progress, and can be stopped, after which nothing of it
// remains. A document is stored, and its passages are found.
import { chat } from "../kit.mjs";
import { script } from "../models.mjs";

const size = 8 << 20;
const speed = 2 << 20; // bytes a second

export default async function upload(t) {
  const server = await t.serve({ args: ["--model", "script/model.yaml"], models: { "model.yaml": script([{ when: ".", text: "Well then." }]) } });
  t.allow(/ERR_ABORTED|ERR_FAILED/);
  const page = await t.open(server);
  const ui = chat(page);
  await ui.ask("hello");
  await ui.done();
  const chatId = page.url().split("/c/")[1];
  await ui.tab("Files").click();
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: speed });
  const files = async () => (await server.api(`/api/chats/${chatId}/workspace/files`)).files.map((f) => f.path);
  const bar = page.getByRole("progressbar", { name: "Upload" });
  const send = (name) => page.getByLabel("Files to upload").setInputFiles({ name, mimeType: "application/octet-stream", buffer: Buffer.alloc(size, 7) });
  const within = () => t.until("it is within the file", () => bar.evaluate((b) => b.value).catch(() => 0), (n) => n > 0 && n < size);

  await send("stopped.bin");
  await within();
  await t.shot(page, "uploading");
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByText("The upload was stopped: no file has changed").waitFor();
  await bar.waitFor({ state: "detached" });
  t.equal(await files(), [], "files after an upload that was stopped");

  await send("whole.bin");
  await within();
  await page.getByText("Uploaded whole.bin").waitFor();
  t.equal(await files(), ["whole.bin"], "files after an upload");
  await documents(t, page);
}

/** documents stores a document and searches in it: only when Enter is pressed. */
async function documents(t, page) {
  await page.getByRole("button", { name: "Show tools and settings" }).click();
  await page.getByRole("tab", { name: "Assets", exact: true }).click();
  await page.getByLabel("Files to store").setInputFiles({
    name: "garage.md", mimeType: "text/markdown", buffer: Buffer.from("# Garage\n\nThe quokka sleeps in the garage.\n\n# Roof\n\nThe roof is red.\n"),
  });
  const field = page.getByRole("searchbox", { name: "Search in documents" });
  await field.fill("quokka");
  const found = page.getByRole("search").getByRole("listitem");
  t.equal(await found.count(), 0, "passages before Enter");
  await field.press("Enter");
  await found.first().waitFor();
  t.ok(/garage\.md/.test(await found.first().innerText()), "the passage names its document");
  t.equal(await found.first().locator("mark").allInnerTexts(), ["quokka"], "marked words");
  await t.shot(page, "documents");
  await field.fill("nothing of this");
  await field.press("Enter");
  await page.getByText("Nothing was found.").waitFor();
}
