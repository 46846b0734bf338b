// A server of the Model Context Protocol whose one tool asks the person for what it
// has to know: node asker.mjs
import { createInterface } from "node:readline";

const fields = {
  name: { type: "string", title: "Name", description: "as it is to stand on the bag" },
  flour: { type: "string", title: "Flour", enum: ["rye", "wheat", "spelt"], default: "rye" },
  loaves: { type: "integer", title: "Loaves", minimum: 1, maximum: 12, default: 2 },
  sliced: { type: "boolean", title: "Sliced", default: true },
};

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
let called;

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "bakery", version: "1.0.0" } } });
  else if (method === "tools/list") send({ id, result: { tools: [{ name: "order", description: "Orders bread.", inputSchema: { type: "object" } }] } });
  else if (method === "tools/call") {
    called = id;
    send({ id: "asks", method: "elicitation/create", params: { message: "What bread shall it be?", requestedSchema: { type: "object", properties: fields, required: ["name"] } } });
  } else if (method === undefined && id === "asks") send({ id: called, result: { content: [{ type: "text", text: "It is ordered." }] } });
  else if (id !== undefined) send({ id, error: { code: -32601, message: "there is no such method" } });
}
