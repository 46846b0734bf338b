// A reload in mid-stream, and a network that is lost and comes back: the answer goes
// on where it was, ends once, and no word of it is doubled or lost.
import { connect } from "node:net";
import { chat } from "../kit.mjs";
import { script, words } from "../models.mjs";

const answer = words(400).join(" ");
const model = script([{ when: "", text: answer }], { pace: "15ms" });

export default async function reload(t) {
  const server = await t.serve({ args: ["--model", "script/model.yaml"], models: { "model.yaml": model } });
  const page = await t.open(server);
  const ui = chat(page);
  await ui.ask("many words");
  await page.getByText("word20 ", { exact: false }).first().waitFor();
  await page.reload();
  await page.getByText("word40 ", { exact: false }).first().waitFor();
  await t.shot(page, "resumed");
  await whole(t, page, 1);
  await page.reload();
  await page.getByText("word399", { exact: false }).first().waitFor();
  await whole(t, page, 1);

  // The browser reaches the server by way of a wire that can be cut.
  const wire = await cuttable(t);
  t.allow(/net::ERR_/);
  const context = await t.context({ proxy: { server: wire.origin, bypass: "<-loopback>" } });
  const far = await t.open(server, { context });
  await chat(far).ask("many words, from afar");
  await far.getByText("word20 ", { exact: false }).first().waitFor();
  wire.cut();
  await far.getByText("The connection is lost", { exact: false }).first().waitFor();
  await t.shot(far, "lost");
  wire.mend();
  await far.getByText("word399", { exact: false }).first().waitFor();
  await whole(t, far, 1);
}

async function whole(t, page, answers) {
  const last = await chat(page).done();
  t.equal(await chat(page).answers.count(), answers, "answers");
  const shown = (await last.innerText()).match(/word\d+/g);
  t.equal(shown, answer.split(" "), "the words of the answer");
}

/** cuttable is a proxy that breaks all connections when it is told to. */
async function cuttable(t) {
  const sockets = new Set();
  let broken = false;
  const keep = (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    return socket;
  };
  const { server, origin } = await t.listen();
  server.on("connection", (socket) => (broken ? socket.destroy() : keep(socket)));
  server.on("request", (request, response) => {
    const to = new URL(request.url);
    const upstream = keep(connect(Number(to.port), to.hostname));
    // One request a connection, passed on as it is.
    upstream.write(`${request.method} ${to.pathname}${to.search} HTTP/1.1\r\n`);
    const raw = request.rawHeaders;
    for (let i = 0; i < raw.length; i += 2) if (!/^(proxy-)?connection$/i.test(raw[i])) upstream.write(`${raw[i]}: ${raw[i + 1]}\r\n`);
    upstream.write("Connection: close\r\n\r\n");
    request.pipe(upstream, { end: false });
    upstream.pipe(response.socket);
  });
  return {
    origin,
    cut() {
      broken = true;
      for (const socket of sockets) socket.destroy();
    },
    mend() {
      broken = false;
    },
  };
}
