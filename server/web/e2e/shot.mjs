// Takes a picture of the page: node e2e/shot.mjs URL FILE [WIDTHxHEIGHT] [dark|light]
// CHROMIUM names the browser; Debian's is looked for.
import { chromium } from "playwright-core";

const [url, file, size = "1440x900", colorScheme = "dark"] = process.argv.slice(2);
const [width, height] = size.split("x").map(Number);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width, height }, colorScheme });
page.on("console", (m) => m.type() === "error" && console.error(m.text()));
page.on("pageerror", (e) => console.error(e));
await page.goto(url);
await page.waitForTimeout(1500);
await page.screenshot({ path: file });
await browser.close();
