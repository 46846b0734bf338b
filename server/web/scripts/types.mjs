// Makes the types of the API, and of the events of a turn, from openapi.json,
// which a Go test holds against the routes.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const api = JSON.parse(await readFile(new URL("../openapi.json", import.meta.url), "utf8"));
const head = "// Made by scripts/types.mjs from openapi.json. Not to be edited.\n/* eslint-disable */\n\n";
const nodes = await openapiTS(api, { defaultNonNullable: false });
await writeFile(new URL("../src/lib/api/schema.d.ts", import.meta.url), head + astToString(nodes));
