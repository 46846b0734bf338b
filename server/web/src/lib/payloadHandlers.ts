import { createContext, use, type ReactNode } from "react";

// Document 001's handlers. A page's own come first: they know the page's state.

export interface PayloadCallbacks {
  onAccept?: (data: unknown) => void;
  onReject?: (data: unknown) => void;
}

export interface RenderOptions {
  panelWidth?: string;
  headerTitle?: string;
  headerIcon?: string;
}

export interface PayloadHandler {
  render: (payload: unknown, callbacks: PayloadCallbacks) => ReactNode;
  renderOptions?: RenderOptions;
  /** what the page does once a person accepted it, and the server has noted that */
  onAccept?: (data: unknown) => void;
  onReject?: (data: unknown) => void;
}

export type PayloadHandlers = Record<string, PayloadHandler>;

export interface FoundHandler extends PayloadHandler {
  from: "page" | "global";
}

const global = new Map<string, PayloadHandler>();
const pages = new Map<string, Map<string, PayloadHandler>>();

/** registerPayloadHandler says how payloads of a type are shown everywhere, or on one page. */
export function registerPayloadHandler(type: string, handler: PayloadHandler, page?: string): void {
  if (page === undefined) {
    global.set(type, handler);
    return;
  }
  const own = pages.get(page) ?? new Map<string, PayloadHandler>();
  own.set(type, handler);
  pages.set(page, own);
}

/** getPayloadHandler looks a handler up: the page's first, then everybody's. */
export function getPayloadHandler(type: string, page?: string): PayloadHandler | undefined {
  return (page === undefined ? undefined : pages.get(page)?.get(type)) ?? global.get(type);
}

/** findPayloadHandler also asks the handlers that were given along with the page. */
export function findPayloadHandler(type: string, given: PayloadHandlers = {}, page?: string): FoundHandler | undefined {
  const own = Object.hasOwn(given, type) ? given[type] : page === undefined ? undefined : pages.get(page)?.get(type);
  if (own) return { ...own, from: "page" };
  const known = global.get(type);
  return known && { ...known, from: "global" };
}

/** PayloadPageContext has the page that this stands on, and its handlers (the `payloadHandlers` of a page). */
export const PayloadPageContext = createContext<{ page?: string; handlers?: PayloadHandlers }>({});

/** usePayloadHandler is the handler that counts here. */
export function usePayloadHandler(type: string): FoundHandler | undefined {
  const { page, handlers } = use(PayloadPageContext);
  return findPayloadHandler(type, handlers, page);
}
