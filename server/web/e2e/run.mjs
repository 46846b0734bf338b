// Tries the page in a real browser against a real server:
//
//   FETTLE_PROGRAM=FETTLE node e2e/run.mjs [SCENARIO …]
//
// Without names all of e2e/scenarios run. CHROMIUM names the browser, FETTLE_SHARED
// the shared test data, FETTLE_PAGE_SHOTS a folder for pictures.
import { accessSync, constants, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { Kit } from "./kit.mjs";
import { chromium } from "./packages.mjs";

// More than the slowest scenario takes on a machine with many times its load.
const scenarioTime = 240_000;

const folder = new URL("scenarios/", import.meta.url);
const known = readdirSync(folder).flatMap((file) => (file.endsWith(".mjs") ? [file.slice(0, -4)] : []));
const names = process.argv.length > 2 ? process.argv.slice(2) : known;
const unknown = names.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`no scenario ${unknown.join(", ")}; there are ${known.join(", ")}`);
  process.exit(2);
}

function browserPath() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const path = (process.env.PATH ?? "").split(delimiter);
  for (const file of ["/usr/bin/chromium", ...["chromium", "google-chrome"].flatMap((name) => path.map((dir) => join(dir, name)))]) {
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // The next one.
    }
  }
  throw new Error("there is no Chromium; CHROMIUM names one");
}

async function one(browser, name) {
  const kit = new Kit(browser, name);
  const { default: scenario } = await import(new URL(`${name}.mjs`, folder));
  let problem = "";
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} isn't at its end after ${scenarioTime / 1000} s`)), scenarioTime);
  });
  try {
    await Promise.race([scenario(kit), late]);
  } catch (error) {
    problem = await kit.tell(error);
  }
  clearTimeout(timer);
  if (!problem && kit.faults.length > 0) problem = await kit.tell("what the page must not do:");
  const faults = await kit.end().catch((error) => [`the scenario can't be ended: ${error}`]);
  return { problem: [problem, ...faults].filter(Boolean).join("\n"), figures: kit.figures };
}

let failed = 0;
// Only root, as in a container, can't use the browser's sandbox.
const browser = await chromium.launch({ executablePath: browserPath(), args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
try {
  for (const name of names) {
    const begun = Date.now();
    const { problem, figures } = await one(browser, name);
    for (const figure of figures) console.log(`${name}: ${figure}`);
    console.log(`${problem ? "FAILED" : "ok"} ${name} ${((Date.now() - begun) / 1000).toFixed(1)} s`);
    if (problem) console.log(problem.replace(/^/gm, "  "));
    failed += problem ? 1 : 0;
  }
} finally {
  await browser.close();
}
process.exit(failed > 0 ? 1 : 0);
