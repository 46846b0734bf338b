import { afterEach, expect, it, vi } from "vitest";
import { request } from "./client";
import { explain, Unreachable } from "./fault";

afterEach(() => vi.unstubAllGlobals());

it("says that fettle can't be reached where the network fails, and there alone", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
  const lost: unknown = await request("/api/page").catch((error: unknown) => error);
  expect(lost).toBeInstanceOf(Unreachable);
  expect(explain(lost).message).toBe("fettle can't be reached");
  expect(explain(new TypeError("x is undefined")).message).toBe("x is undefined");
});

it("leaves a stop what it is", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new DOMException("stopped", "AbortError")));
  const stopped: unknown = await request("/api/page").catch((error: unknown) => error);
  expect(stopped).toMatchObject({ name: "AbortError" });
});
