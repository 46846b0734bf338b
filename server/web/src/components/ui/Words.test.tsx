import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { Words } from "./Words";

afterEach(cleanup);

it.each([
  ["is `fettle serve` still running?", "is fettle serve still running?", ["fettle serve"]],
  ["`a` and `b`", "a and b", ["a", "b"]],
  ["fettle chats show 12", "fettle chats show 12", ["fettle chats show 12"]],
  ["fettle", "fettle", []],
  ["check the address, and the network", "check the address, and the network", []],
  ["one ` alone", "one ` alone", []],
  ["`a` and ` alone", "a and ` alone", ["a"]],
])("draws %s", (text, all, code) => {
  const { container } = render(<Words>{text}</Words>);
  expect(container.textContent).toBe(all);
  expect([...container.querySelectorAll("code")].map((c) => c.textContent)).toEqual(code);
});
