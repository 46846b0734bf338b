// What the client tests share: scenarios that run one after the other, each
// with a line of output, and an end with status 1 where one failed.
import assert from "node:assert/strict";

export { assert };
export const base = process.argv[2];

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

// gone waits until the server has seen that the client of a hanging turn left.
export async function gone(client) {
  const answer = await fetch(`${base}/gone/${client}`);
  assert.equal(await answer.text(), "gone");
}

export const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};
