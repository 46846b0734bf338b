import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { handleShortcut, registerShortcuts, useShortcuts } from "./shortcuts";

const run = vi.fn();
let leave = () => {};

beforeEach(() => {
  run.mockClear();
  useShortcuts.setState({ on: true });
  leave = registerShortcuts([{ key: "n", label: "New chat", group: "Chats", run }]);
  document.addEventListener("keydown", handleShortcut);
});
afterEach(() => {
  leave();
  document.removeEventListener("keydown", handleShortcut);
  document.body.replaceChildren();
});

function press(on: Element, init: KeyboardEventInit = {}) {
  on.dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true, cancelable: true, ...init }));
}

function put(html: string): Element {
  document.body.innerHTML = html;
  return document.body.firstElementChild as Element;
}

test("a key runs its shortcut once", () => {
  press(document.body);
  expect(run).toHaveBeenCalledTimes(1);
  press(document.body, { key: "x" });
  expect(run).toHaveBeenCalledTimes(1);
});

test.each(["<textarea></textarea>", "<input>", "<input type=search>", "<select></select>", "<div contenteditable=true></div>", "<div role=dialog></div>", "<div role=menu></div>"])("%s keeps its keys", (html) => {
  press(put(html));
  expect(run).not.toHaveBeenCalled();
});

test("a dialog that is open keeps the keys, wherever they go", () => {
  put("<div role=dialog></div>");
  press(document.body);
  expect(run).not.toHaveBeenCalled();
});

test("keys with Control, of an input method or held down are not ours", () => {
  press(document.body, { ctrlKey: true });
  press(document.body, { metaKey: true });
  press(document.body, { isComposing: true });
  press(document.body, { repeat: true });
  expect(run).not.toHaveBeenCalled();
});

test("single keys can be turned off, and a shortcut goes with who brought it", () => {
  useShortcuts.setState({ on: false });
  press(document.body);
  expect(run).not.toHaveBeenCalled();
  useShortcuts.setState({ on: true });
  leave();
  press(document.body);
  expect(run).not.toHaveBeenCalled();
});
