// What a payload's render plan has of the view and the look that its toolset gave its type.
import { record } from "@/lib/record";
import { cut } from "./read";

/** Look is document 000's registry of types as a plan has it. */
export interface Look {
  icon?: string;
  colour?: string;
  label?: string;
  editable?: boolean;
  headerTitle?: string;
  headerIcon?: string;
  panelWidth?: string;
}

const renderers = ["html", "mcp_app", "frame", "code", "document", "table"];

/** ownRenderer is the renderer of a plan; "" where the type has no view of its own. */
export function ownRenderer(plan: unknown): string {
  const { renderer, error } = record(plan);
  return typeof renderer === "string" && renderers.includes(renderer) && !error ? renderer : "";
}

/** isWhole reports whether a plan has all that the view needs: lists leave it out where it is long. */
export function isWhole(plan: unknown): boolean {
  const { config } = record(plan);
  return typeof config === "object" && config !== null;
}

/** lookOf is the look of a plan; undefined where the plan has none. */
export function lookOf(plan: unknown): Look | undefined {
  const { look } = record(plan);
  if (typeof look !== "object" || look === null) return undefined;
  const given = record(look);
  const word = (name: string) => (typeof given[name] === "string" ? cut(given[name], 80) : undefined);
  return {
    icon: word("icon"), colour: word("colour"), label: word("label"), editable: given.editable === true,
    headerTitle: word("headerTitle"), headerIcon: word("headerIcon"), panelWidth: word("panelWidth"),
  };
}
