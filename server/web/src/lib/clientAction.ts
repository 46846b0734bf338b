// Client actions of document 001: what the program around the chat can do. The chat hands an
// action to it as an event, and states that the action was carried out only where the
// program acknowledged it.

export interface ClientAction {
  /** its name, as the page's manifest has it */
  action: string;
  data: unknown;
  /** the chat, and the payload whose acceptance or rejection asks for the action */
  chat: string | null;
  payload_id?: string;
}

/** Performer hands an action to the program, and reports whether that acknowledged it. */
export type Performer = (action: ClientAction) => Promise<boolean>;

let performer: Performer | null = null;

/** performBy names who carries actions out; it returns how to take that back. */
export function performBy(by: Performer): () => void {
  performer = by;
  return () => {
    if (performer === by) performer = null;
  };
}

/** perform reports whether a program carried an action out; without a program it is false. */
export async function perform(action: ClientAction): Promise<boolean> {
  try {
    return performer ? await performer(action) : false;
  } catch (error) {
    console.warn(`fettle-chat: the action ${action.action} failed`, error);
    return false;
  }
}
