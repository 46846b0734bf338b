import { expect, test } from "vitest";
import { findPayloadHandler, getPayloadHandler, registerPayloadHandler } from "./payloadHandlers";

const handler = (name: string) => ({ render: () => name });

test("a page's handler comes before everybody's, and what is given along before both", () => {
  registerPayloadHandler("pubmed_article", handler("global"));
  registerPayloadHandler("pubmed_article", handler("of the page"), "reports");
  expect(getPayloadHandler("pubmed_article")?.render({}, {})).toBe("global");
  expect(getPayloadHandler("pubmed_article", "reports")?.render({}, {})).toBe("of the page");
  expect(getPayloadHandler("pubmed_article", "streams_list")?.render({}, {})).toBe("global");
  expect(findPayloadHandler("pubmed_article", { pubmed_article: handler("given") }, "reports")).toMatchObject({ from: "page" });
  expect(findPayloadHandler("pubmed_article", { pubmed_article: handler("given") }, "reports")?.render({}, {})).toBe("given");
  expect(findPayloadHandler("pubmed_article")?.from).toBe("global");
  expect(findPayloadHandler("constructor")).toBeUndefined();
});
