// What the client tests share: scenarios that run one after the other, each
// with a line of output, and an end with status 1 where one failed.
import assert from "node:assert/strict";

export { assert };
export const [base, token] = process.argv.slice(2);
// Who can't send a header carries the token in the path.
export const inPath = `${base}/t/${token}`;

export async function run(scenarios) {
  let failed = 0;
  setInterval(() => {}, 1000); // a client that waits to reconnect doesn't keep Node alive
  for (const [name, scenario] of Object.entries(scenarios)) {
    try {
      await scenario();
      console.log(`ok ${name}`);
    } catch (err) {
      failed++;
      console.log(`not ok ${name}: ${err?.stack ?? err}`);
    }
  }
  process.exit(failed ? 1 : 0);
}

let left = 0;

// cancelled waits until one more turn of the server was cancelled.
export async function cancelled() {
  const answer = await fetch(`${base}/cancelled?n=${++left}`);
  assert.equal(await answer.text(), "cancelled");
}

export const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
export const weather = { type: "function", function: { name: "get_weather", description: "The weather of a city.", parameters: city } };
