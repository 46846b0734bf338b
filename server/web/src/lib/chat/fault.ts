import { ApiFault, explain } from "@/lib/api/fault";
import type { ChatFault } from "@/types/chat";

/** isLocked is whether the token was refused. */
export function isLocked(error: unknown): boolean {
  return error instanceof ApiFault && error.status === 401;
}

/** faultOf is an error as the chat shows it. */
export function faultOf(error: unknown): ChatFault {
  const { message, hints, retry } = explain(error);
  return { message, hints, retryable: retry, code: error instanceof ApiFault ? error.code : "unreachable" };
}
