import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useImports } from "./importing";
import { DropZone } from "./Toolsets";

const begin = vi.fn();
beforeEach(() => {
  begin.mockReset();
  useImports.setState({ begin });
});
afterEach(cleanup);

function fire(target: Element, what: "dragover" | "drop") {
  const file = new File(["PK"], "tools.zip", { type: "application/zip" });
  const event = new Event(what, { bubbles: true, cancelable: true });
  Object.assign(event, { dataTransfer: { types: ["Files"], files: [file], items: [{ kind: "file", type: file.type }] } });
  act(() => void target.dispatchEvent(event));
  return event;
}

function Page() {
  return (
    <>
      <DropZone />
      <div data-testid="composer" onDragOver={(e) => e.preventDefault()} onDrop={(e) => e.preventDefault()} />
      <div data-testid="elsewhere" />
    </>
  );
}

it("leaves a bundle to what takes files", () => {
  render(<Page />);
  fire(screen.getByTestId("elsewhere"), "dragover");
  expect(screen.queryByText(/Drop to see/)).not.toBeNull();
  fire(screen.getByTestId("composer"), "dragover");
  expect(screen.queryByText(/Drop to see/)).toBeNull();
  fire(screen.getByTestId("composer"), "drop");
  expect(begin).not.toHaveBeenCalled();
});

it("imports one that is dropped elsewhere, and lets no file replace the page", () => {
  render(<Page />);
  expect(fire(screen.getByTestId("elsewhere"), "drop").defaultPrevented).toBe(true);
  expect(begin).toHaveBeenCalledTimes(1);
});
