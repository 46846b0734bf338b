import { expect, test, vi } from "vitest";
import { define, getPayloadHandler, registerPayloadHandler } from "./element";
import type { Instance, Options } from "./types";

vi.mock("@/styles.css?inline", () => ({ default: "" }));

test("the page's styles hold within a shadow root", async () => {
  const { shadowStyles } = await import("./css");
  const css = shadowStyles('@property --tw-shadow{syntax:"*";inherits:false;initial-value:0 0 #0000}:root,[data-theme="dark"]{--fettle-bg:#000}[data-theme=light]{--fettle-bg:#fff}body{color:red}.somebody{top:0}.p-4{padding:.25rem}.w{width:1.5rem}');
  expect(css).not.toContain("@property");
  expect(css).toContain("--tw-shadow:0 0 #0000");
  expect(css).toContain(":host([data-theme=dark]){--fettle-bg:#000}:host([data-theme=light]){--fettle-bg:#fff}:host{color:red}.somebody{top:0}");
  expect(css).toContain(".p-4{padding:4px}.w{width:24px}");
  expect(css).not.toMatch(/[\d.]rem/);
});

test("an element mounts its own instance with its attributes and properties, and goes cleanly", async () => {
  const mounts: { options: Options; ended: boolean; updates: Options[]; types: string[] }[] = [];
  define((): Instance => {
    const types: string[] = [];
    return {
      sheet: () => new CSSStyleSheet(),
      registerEverywhere: (type) => void types.push(type),
      mount: (_host, _root, options) => {
        const one = { options, ended: false, updates: [] as Options[], types };
        mounts.push(one);
        return { update: (o) => void one.updates.push(o), unmount: () => void (one.ended = true) };
      },
    };
  });
  registerPayloadHandler("note", { render: () => "a note" });
  expect(getPayloadHandler("note")?.render({}, {})).toBe("a note");
  expect(getPayloadHandler("other")).toBeUndefined();

  const chat = document.createElement("fettle-chat");
  chat.setAttribute("server", "http://127.0.0.1:7777/");
  chat.setAttribute("token", "T");
  chat.setAttribute("context", '{"stream_id": 7}');
  const handlers = { schema_proposal: { render: () => null } };
  Object.assign(chat, { payloadHandlers: handlers, page: "edit", theme: "light" });
  document.body.append(chat, document.createElement("fettle-chat"));
  expect(mounts).toHaveLength(2);
  expect(mounts[0]?.options).toEqual({ server: "http://127.0.0.1:7777", token: "T", page: "edit", tab: "", context: { stream_id: 7 }, chat: null, handlers });
  expect(chat.dataset.theme).toBe("light");
  expect(mounts[0]?.types).toEqual(["note"]);

  registerPayloadHandler("later", { render: () => "" });
  expect(mounts.map((m) => m.types)).toEqual([["note", "later"], ["note", "later"]]);

  // Several changes are one drawing.
  chat.setAttribute("tab", "semantic");
  Object.assign(chat, { context: { stream_id: 8 } });
  await Promise.resolve();
  expect(mounts[0]?.updates).toHaveLength(1);
  expect(mounts[0]?.updates[0]).toMatchObject({ tab: "semantic", context: { stream_id: 8 } });

  chat.remove();
  expect(mounts.map((m) => m.ended)).toEqual([true, false]);
});
