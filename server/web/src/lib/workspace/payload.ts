import type { ShownPayload, WorkspacePayload } from "@/types/chat";
import { fields, text } from "./read";

/** dataOf is what a payload's view shows: the type's own field counts as data (document 000 has both). */
export function dataOf(payload: WorkspacePayload): unknown {
  return payload.data ?? payload.agent_data ?? payload.table_data ?? payload.research_data;
}

/** planned is a payload's render plan as a field; nothing where it has none. */
function planned(plan: unknown): Pick<WorkspacePayload, "render_plan"> {
  return plan === undefined || plan === null ? {} : { render_plan: plan };
}

/** workspacePayload reads what a tool gave for the workspace and how it is shown; null where it gave nothing. */
export function workspacePayload(value: unknown, plan?: unknown): WorkspacePayload | null {
  const given = fields(value);
  if (typeof given.type !== "string" || given.type === "") return null;
  return {
    ...given,
    render_plan: undefined, // a tool's own word for it counts nothing
    ...planned(plan),
    type: given.type,
    title: text(given.title, 300),
    content: typeof given.content === "string" ? given.content : "",
  };
}

/** shownAsWorkspace is document 001's payload in the form of 000's. */
export function shownAsWorkspace(shown: ShownPayload): WorkspacePayload {
  return { type: shown.type, title: text(shown.title, 300), content: "", data: shown.data, ...planned(shown.render_plan) };
}
