// A call's render plan (document 004, §5.3), read with suspicion: its values come
// from a model and a toolset.
import { record } from "@/lib/record";

export type Plan =
  | { renderer: "code"; file?: string; content?: string; language?: string; editable: boolean }
  | { renderer: "document"; file?: string; content?: string; editable: boolean }
  | { renderer: "html" }
  | { renderer: "mcp_app" }
  | { renderer: "table"; data: unknown }
  | { renderer: "frame"; url?: string }
  | { renderer: "none" };

export interface ReadPlan {
  plan: Plan;
  problems: string[];
  error?: { message: string; traceback?: string };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** content is what is shown as text: anything else than text is shown as JSON. */
function content(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

export function readPlan(value: unknown): ReadPlan {
  const raw = record(value);
  const config = record(raw.config);
  const problems = Array.isArray(raw.problems) ? raw.problems.filter((p): p is string => typeof p === "string") : [];
  const failure = record(raw.error);
  const message = text(failure.message);
  return { plan: planOf(raw.renderer, config), problems, ...(message ? { error: { message, traceback: text(failure.traceback) } } : {}) };
}

function planOf(renderer: unknown, config: Record<string, unknown>): Plan {
  const editable = config.editable === true;
  const file = text(config.file);
  const shown: { file?: string; content?: string; editable: boolean } = { ...(file ? { file } : { content: content(config.content) }), editable };
  switch (renderer) {
    case "code":
      return shown.file || shown.content !== undefined ? { renderer, ...shown, language: text(config.language) } : { renderer: "none" };
    case "document":
      return shown.file || shown.content !== undefined ? { renderer, ...shown } : { renderer: "none" };
    case "html":
    case "mcp_app":
      return { renderer };
    case "table":
      return { renderer, data: config.data };
    case "frame":
      return { renderer, url: text(config.url) };
  }
  return { renderer: "none" };
}
