import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { IconButton } from "./Button";
import { Menu } from "./Menu";

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const wait = (ms: number) => act(() => void vi.advanceTimersByTime(ms));

describe("a menu", () => {
  const draw = (onSelect = vi.fn()) => {
    render(
      <Menu items={[{ label: "Rename", onSelect }, { label: "Fork", onSelect: vi.fn() }, { label: "Delete", onSelect: vi.fn() }]}>
        <IconButton label="More">…</IconButton>
      </Menu>,
    );
    return { button: screen.getByRole("button", { name: "More" }), onSelect };
  };
  const item = (name: string) => screen.getByRole("menuitem", { name });
  const press = (key: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key });

  it("is opened by a click and by the keyboard, which goes on at the first item", () => {
    const { button } = draw();
    expect(button.getAttribute("aria-expanded")).toBe("false");
    fireEvent.click(button, { detail: 1 });
    expect(document.activeElement).toBe(screen.getByRole("menu", { name: "More" }));
    expect(button.getAttribute("aria-expanded")).toBe("true");
    fireEvent.click(button, { detail: 1 });
    expect(screen.queryByRole("menu")).toBeNull();
    fireEvent.click(button, { detail: 0 });
    expect(document.activeElement).toBe(item("Rename"));
    press("Escape");
    fireEvent.keyDown(button, { key: "ArrowDown" });
    expect(document.activeElement).toBe(item("Rename"));
  });

  it("goes by arrows, ends and letters", () => {
    const { button } = draw();
    fireEvent.click(button, { detail: 1 });
    for (const [key, name] of [["ArrowDown", "Rename"], ["ArrowDown", "Fork"], ["End", "Delete"], ["ArrowDown", "Delete"], ["ArrowUp", "Fork"], ["Home", "Rename"], ["d", "Delete"], ["f", "Fork"], ["x", "Fork"]] as const) {
      press(key);
      expect(document.activeElement, key).toBe(item(name));
    }
    fireEvent.pointerMove(item("Delete"));
    expect(document.activeElement).toBe(item("Delete"));
  });

  it("gives the focus back before what was chosen takes it", () => {
    const { button, onSelect } = draw(vi.fn(() => expect(document.activeElement).toBe(button)));
    fireEvent.click(button, { detail: 1 });
    fireEvent.click(item("Rename"));
    expect(onSelect).toHaveBeenCalledOnce();
    expect(screen.queryByRole("menu")).toBeNull();
  });

  it("closes by Escape, which nothing below it takes, and by a press elsewhere", () => {
    const { button } = draw();
    const below = vi.fn((e: KeyboardEvent) => e.defaultPrevented);
    document.addEventListener("keydown", below, true);
    fireEvent.click(button, { detail: 1 });
    press("Escape");
    expect(below).toHaveReturnedWith(true);
    expect(document.activeElement).toBe(button);
    document.removeEventListener("keydown", below, true);
    fireEvent.click(button, { detail: 1 });
    fireEvent.pointerDown(button); // its click closes it
    fireEvent.pointerDown(item("Fork"));
    expect(screen.queryByRole("menu")).not.toBeNull();
    fireEvent.pointerDown(document.body);
    expect(screen.queryByRole("menu")).toBeNull();
  });
});

describe("a tooltip", () => {
  const draw = () => {
    render(
      <>
        <IconButton label="One">1</IconButton>
        <IconButton label="Two">2</IconButton>
      </>,
    );
    return [screen.getByRole("button", { name: "One" }), screen.getByRole("button", { name: "Two" })] as const;
  };
  const shown = () => screen.queryAllByRole("tooltip").map((t) => t.textContent);

  it("comes where a pointer rests, and at once on the next", () => {
    const [one, two] = draw();
    fireEvent.pointerEnter(one);
    wait(400);
    expect(shown()).toEqual([]);
    wait(200);
    expect(shown()).toEqual(["One"]);
    expect(one.getAttribute("aria-describedby")).toBe(screen.getByRole("tooltip").id);
    fireEvent.pointerLeave(one);
    fireEvent.pointerEnter(two);
    wait(200);
    expect(shown()).toEqual(["Two"]);
  });

  it("stays while it is pointed at, and goes by a press and by Escape", () => {
    const [one] = draw();
    const come = () => {
      fireEvent.pointerEnter(one);
      wait(600);
      expect(shown()).toEqual(["One"]);
    };
    come();
    fireEvent.pointerLeave(one);
    fireEvent.pointerEnter(screen.getByRole("tooltip"));
    wait(1_000);
    expect(shown()).toEqual(["One"]);
    fireEvent.pointerLeave(screen.getByRole("tooltip"));
    wait(200);
    expect(shown()).toEqual([]);
    come();
    fireEvent.pointerDown(one);
    expect(shown()).toEqual([]);
    come();
    fireEvent.keyDown(document.body, { key: "Escape" });
    expect(shown()).toEqual([]);
  });

  it("isn't shown to a finger", () => {
    const [one] = draw();
    fireEvent.pointerEnter(one, { pointerType: "touch" });
    wait(1_000);
    expect(shown()).toEqual([]);
  });
});
