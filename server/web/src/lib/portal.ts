import { createContext, use } from "react";

/** PortalContext is where dialogs, menus and tooltips go; undefined is the document's body. The web component's stay in its shadow, where their styles are. */
export const PortalContext = createContext<HTMLElement | undefined>(undefined);

export function usePortal(): HTMLElement | undefined {
  return use(PortalContext);
}
