import { create } from "zustand";
import type { TurnRequest } from "@/lib/api/generalChatApi";

/** modes are the modes of approvals, and plan mode, in the order in which the page lists them. */
export const modes = [
  { id: "calls", label: "Ask", about: "Asks before each call that no rule allows." },
  { id: "edits", label: "Accept edits", about: "Lets the built-in tools change files of the workspace, and asks about other calls." },
  { id: "plan", label: "Plan", about: "The model only reads, and answers with a plan." },
  { id: "changes", label: "Review changes", about: "Runs contained commands first, and asks about the changes that they made." },
  { id: "ask-all", label: "Ask about every call", about: "Asks before every call, also where a rule allows it." },
] as const;

export type Mode = (typeof modes)[number]["id"];

/** acceptPlan is the user's message by which a plan is accepted. */
export const acceptPlan = "I accept the plan. Carry it out.";

/** useFreshMode holds what was chosen for the chat that begins with the next question; null for nothing. */
export const useFreshMode = create<{ mode: Mode | null }>()(() => ({ mode: null }));

/** modeFields are a mode as a turn and a chat take it. Plan mode leaves the approvals as they are, so that they hold again after it. */
export function modeFields(mode: Mode): Pick<TurnRequest, "approvals" | "plan"> {
  return mode === "plan" ? { plan: true } : { approvals: mode, plan: false };
}

/** modeOf is the mode of a chat's next turn; `usual` is the configured one. */
export function modeOf(chat: { approvals?: string; plan?: boolean } | null, fresh: Mode | null, usual: string | undefined): Mode {
  const kept = chat?.plan ? "plan" : chat?.approvals || usual || "calls";
  const now = chat ? kept : (fresh ?? kept);
  return modes.find((m) => m.id === now)?.id ?? "calls";
}

/** freshFields are what the first turn of a chat is begun with. */
export function freshFields(): Pick<TurnRequest, "approvals" | "plan" | "keep_mode"> {
  const { mode } = useFreshMode.getState();
  return mode ? { ...modeFields(mode), keep_mode: true } : {};
}
