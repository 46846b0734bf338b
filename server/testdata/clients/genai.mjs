// Google's client: fettle serve has no Gemini API, and says so in the form of Google's errors.
import { ApiError, GoogleGenAI } from "@google/genai";
import { assert, base, run, token } from "./run.mjs";

const client = new GoogleGenAI({ apiKey: token, httpOptions: { baseUrl: base, retryOptions: { attempts: 1 } } });
const model = "script/m.yaml";
const refused = (err) => err instanceof ApiError && err.status === 501 && /fettle serve has no Gemini API/.test(err.message) && /docs\/gemini\.md/.test(err.message);

await run({
  "an answer": () => assert.rejects(client.models.generateContent({ model, contents: "hi" }), refused),
  "a stream": () => assert.rejects(client.models.generateContentStream({ model: "gemini-2.5-flash", contents: "hi" }), refused),
  "a count of tokens": () => assert.rejects(client.models.countTokens({ model: "gemini-2.5-flash", contents: "hi" }), refused),
  "vectors": () => assert.rejects(client.models.embedContent({ model: "gemini-embedding-001", contents: "hi" }), refused),
  "a list of models": () => assert.rejects(client.models.list(), refused),
});
