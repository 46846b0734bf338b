// `fettle serve --open` gives the browser a code in place of the token: it is good
// once, and the page keeps neither in its address.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chat } from "../kit.mjs";

export default async function open(t) {
  const bin = mkdtempSync(join(tmpdir(), "fettle-page-bin-"));
  t.closers.push(() => rmSync(bin, { recursive: true, force: true }));
  const told = join(bin, "told");
  writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\necho "$1" >'${told}.new' && mv '${told}.new' '${told}'\n`);
  chmodSync(join(bin, "xdg-open"), 0o755);
  const server = await t.serve({ args: ["--demo", "--open"], env: { PATH: `${bin}:${process.env.PATH}`, DISPLAY: ":0" } });
  const address = await t.until("the browser's address", () => existsSync(told) && readFileSync(told, "utf8").trim());
  t.ok(/#open=[\w-]+$/.test(address) && !address.includes(server.token), `a code stands in the address, and no token: ${address}`);

  const page = await (await t.context()).newPage();
  await page.goto(address);
  await page.getByRole("button", { name: /Three agents settle a question/ }).waitFor();
  t.equal(page.url(), `${server.url}/`, "the address once the code is spent");
  await page.reload();
  await page.getByRole("button", { name: /Three agents settle a question/ }).waitFor();

  // The code is spent, and without a token the page says what to do.
  t.allow(/status of 401/, /status of 404.*api\/open/);
  const other = await (await t.context()).newPage();
  await other.goto(address);
  await other.getByRole("heading", { name: "This page needs its token" }).waitFor();
  await t.shot(other, "token");
  await t.axe(other, "the page without a token");
  await other.getByLabel("Token, or the address with it").fill("not-the-token");
  await other.getByRole("button", { name: "Open", exact: true }).click();
  await other.getByRole("main").getByRole("alert").waitFor();
  await other.getByLabel("Token, or the address with it").fill(server.address);
  await other.getByRole("button", { name: "Open", exact: true }).click();
  await chat(other).message.waitFor();
}
