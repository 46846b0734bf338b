import { expect, it } from "vitest";
import { frameOf } from "./serviceApi";

const own = "http://127.0.0.1:8217";

it("frames a service on its own origin, with no more rights than there are", () => {
  expect(frameOf({ url: "http://s-abc.localhost:9000/app?x=1", sandbox: "allow-scripts allow-same-origin allow-popups allow-top-navigation" }, own)).toEqual({
    address: "http://s-abc.localhost:9000/app?x=1",
    rights: "allow-scripts allow-same-origin",
  });
  expect(frameOf({ url: "http://s-abc.localhost:9000" }, own)?.rights).toBe("allow-scripts");
});

it("frames nothing that is this page's own, or no web address", () => {
  for (const url of [`${own}/`, `${own}/c/1`, "HTTP://127.0.0.1:8217/x", "javascript:alert(1)", "data:text/html,x", "s-abc.localhost", ""]) {
    expect(frameOf({ url, sandbox: "allow-scripts" }, own), url).toBeNull();
  }
  expect(frameOf({}, own)).toBeNull();
});
