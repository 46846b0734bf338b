// Each kind of file as it can be shown: images by what they are and not by what they
// are called, sound by its parts, PDFs and binaries by a note, a large text in parts.
import { chat } from "../kit.mjs";
import { script } from "../models.mjs";

const model = script([{ when: "", text: "Hello." }]);
const dot = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

/** sound is a WAV of so many seconds of a tone, of more bytes than are read at once. */
function sound(seconds, rate = 44_100) {
  const data = Buffer.alloc(seconds * rate * 2);
  for (let i = 0; i < data.length / 2; i++) data.writeInt16LE(Math.round(3000 * Math.sin(i / 12)), i * 2);
  const head = Buffer.alloc(44);
  head.write("RIFF");
  head.writeUInt32LE(36 + data.length, 4);
  head.write("WAVEfmt ", 8);
  for (const [value, at] of [[16, 16], [rate, 24], [rate * 2, 28], [data.length, 40]]) head.writeUInt32LE(value, at);
  for (const [value, at] of [[1, 20], [1, 22], [2, 32], [16, 34]]) head.writeUInt16LE(value, at);
  head.write("data", 36);
  return Buffer.concat([head, data]);
}

const lines = 60_000; // over a megabyte, which is read first
const files = {
  "dot.png": dot,
  "called.txt": dot, // an image all the same
  "false.png": "no image at all\n",
  "drawing.svg": '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><script>window.parent.broken = 1; fetch("/api/chats")</script><rect width="40" height="20" fill="teal"/></svg>\n',
  "tone.wav": sound(40),
  "broken.mp4": Buffer.from("\0\0\0\x18ftypisom and nothing more", "latin1"),
  "paper.pdf": "%PDF-1.4\n%\xe2\xe3\n1 0 obj\n",
  "blob.bin": Buffer.from(Array.from({ length: 2000 }, (_, i) => i & 255)),
  "empty.txt": "",
  "long.log": Array.from({ length: lines }, (_, i) => `line ${i} of a long text`).join("\n"),
};

export default async function shown(t) {
  const server = await t.serve({ args: ["--model", "script/model.yaml"], models: { "model.yaml": model } });
  const { chat_id: id } = await server.turn("hello");
  const headers = { Authorization: `Bearer ${server.token}`, "Content-Type": "application/octet-stream" };
  for (const [name, body] of Object.entries(files)) {
    const res = await fetch(`${server.url}/api/chats/${id}/workspace/files/${name}`, { method: "PUT", headers, body });
    t.ok(res.ok, `${name} is written: ${res.status}`);
  }
  const page = await t.open(server, { path: `/c/${id}`, width: 1600 });
  await page.getByText("Hello.").waitFor();
  await chat(page).tab("Files").click();
  const panel = page.getByRole("tabpanel", { name: "Files" });
  const tree = panel.getByRole("tree", { name: "Files" });
  const open = async (name) => {
    const back = panel.getByRole("button", { name: "Back to the files" }); // where there is no room for both
    if (await back.isVisible()) await back.click();
    await tree.getByRole("treeitem", { name, exact: false }).click();
    await panel.getByRole("heading", { name }).waitFor();
  };
  const look = async (name) => {
    await t.axe(page, name);
    await t.shot(page, name.replaceAll(".", "-"));
  };

  for (const name of ["dot.png", "called.txt"]) {
    await open(name);
    await panel.getByText("1 × 1, 70 B").waitFor();
    t.ok((await panel.getByRole("img", { name }).getAttribute("src")).startsWith("blob:"), `${name} is shown from memory`);
  }
  await open("false.png");
  await panel.getByText("no image at all").waitFor();

  // A drawing is an image and a text, and its script is run in neither.
  await open("drawing.svg");
  await panel.getByRole("img", { name: "drawing.svg" }).waitFor();
  await look("drawing.svg");
  await panel.getByRole("button", { name: "Source" }).click();
  await panel.getByText("teal").waitFor();
  t.equal(await page.evaluate(() => window.broken), undefined, "what the drawing's script did");

  // Sound: the browser reads the parts that it plays.
  const parts = [];
  page.on("response", (res) => res.url().includes("tone.wav") && parts.push([res.status(), res.request().headers().range]));
  // The first link is none of the server's any more, as after a new start of it.
  t.allow(/status of 401 .*\/l\//);
  await page.route("**/l/**", (route) => route.fulfill({ status: 401, body: "" }), { times: 1 });
  await open("tone.wav");
  const player = panel.getByLabel("tone.wav");
  await t.until("the length of the sound is known", () => player.evaluate((a) => Math.round(a.duration) === 40));
  await player.evaluate((a) => {
    a.currentTime = 35;
  });
  await t.until("it is at its 35th second", () => player.evaluate((a) => !a.seeking && a.currentTime >= 35 && a.readyState >= 2));
  t.ok(parts.some(([status, range]) => status === 206 && /^bytes=/.test(range)), `parts were asked for: ${JSON.stringify(parts)}`);
  t.ok(!(await player.getAttribute("src")).includes(server.token), "the sound's address has no token");
  const copied = await fetch(server.url + (await player.getAttribute("src")));
  t.equal([copied.status, (await copied.arrayBuffer()).byteLength], [200, sound(40).length], "the sound by its copied address");
  await look("tone.wav");

  t.allow(/broken\.mp4/);
  await open("broken.mp4");
  await panel.getByText("It can't be shown").waitFor();
  await open("paper.pdf");
  await panel.getByText("A PDF,").waitFor();
  const saved = page.waitForEvent("download");
  await panel.getByRole("button", { name: "Download" }).last().click();
  t.equal((await saved).suggestedFilename(), "paper.pdf", "what is downloaded");
  await look("paper.pdf");
  await open("blob.bin");
  await panel.getByText(/Binary, 2\S* \w+; its first 512 bytes/).waitFor();
  await panel.getByText("00000010  10 11 12").waitFor();
  await look("blob.bin");
  await open("empty.txt");
  await panel.getByRole("textbox").waitFor();

  // A long text is read in parts, and edited once it is whole.
  await open("long.log");
  const more = panel.getByRole("button", { name: "Load more" });
  await more.waitFor();
  await look("long.log");
  await more.click();
  await more.waitFor({ state: "detached" });
}
