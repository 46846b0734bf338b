import { tell, tellFault } from "@/components/ui/Toasts";
import { listStates, restoreState, undoCall, type Restored } from "./workspaceApi";

/**
 * takeBack reverts what a step did, wherever it is by now, and leaves what was done after
 * it. Several steps have no state after them here: their paths are restored.
 */
export async function takeBack(chatId: string, done: Restored, paths: string[]): Promise<void> {
  try {
    if (done.after) await undoCall(chatId, done.after);
    else if (done.before) await restoreState(chatId, done.before, { paths });
    else throw new Error("there is no state before it");
    tell("Taken back");
  } catch (error) {
    tellFault("It could not be taken back", error);
  }
}

/** stepBack takes a step back where it is still the last one: what came after it isn't what was meant. */
export async function stepBack(chatId: string, done: Restored, back: () => Promise<unknown>): Promise<void> {
  try {
    const { states } = await listStates(chatId, 20);
    if (states.some((s) => s.active && s.id === done.after)) await back();
    else tell("Other steps came after it; the timeline has the way back to each state.");
  } catch (error) {
    tellFault("It could not be taken back", error);
  }
}
