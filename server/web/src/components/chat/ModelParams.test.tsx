import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { choices } from "@/lib/chat/api";
import { ModelParams, paramsText } from "./ModelParams";

afterEach(cleanup);

it("offers the levels that the model takes, and gives what was set", () => {
  const changed = vi.fn();
  render(<ModelParams efforts={["low", "high"]} params={{}} onChange={changed} onClose={() => {}} />);
  const effort = screen.getByRole("combobox", { name: /Reasoning effort/ });
  expect([...effort.querySelectorAll("option")].map((o) => o.textContent).filter((t) => t === "low" || t === "high" || t === "max")).toEqual(["low", "high"]);
  fireEvent.change(effort, { target: { value: [...effort.querySelectorAll("option")].find((o) => o.textContent === "high")?.value } });
  fireEvent.change(screen.getByRole("textbox", { name: /Temperature/ }), { target: { value: "3" } });
  fireEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(changed).not.toHaveBeenCalled();
  expect(screen.getByRole("alert").textContent).not.toBe("");
  fireEvent.change(screen.getByRole("textbox", { name: /Temperature/ }), { target: { value: "0.2" } });
  fireEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(changed).toHaveBeenCalledWith({ effort: "high", temperature: 0.2 });
});

it("leaves all to the model again", () => {
  const changed = vi.fn();
  render(<ModelParams params={{ max_tokens: 50 }} onChange={changed} onClose={() => {}} />);
  expect(screen.getByRole("textbox", { name: /Longest answer/ })).toHaveProperty("value", "50");
  fireEvent.click(screen.getByRole("button", { name: "Reset" }));
  expect(changed).toHaveBeenCalledWith({});
});

it("sends what is set, and nothing of the rest", () => {
  expect(choices({ params: { effort: "low", temperature: 0 } })).toEqual({ effort: "low", temperature: 0 });
  expect(choices({})).toEqual({});
  expect(paramsText({ temperature: 0 })).toBe("temperature 0");
  expect(paramsText({})).toBe("");
});
