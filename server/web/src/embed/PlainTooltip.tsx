import { cloneElement, isValidElement, type ReactElement, type ReactNode } from "react";

export function TooltipProvider({ children }: { children: ReactNode }) {
  return children;
}

/** Tooltip is the browser's own in the web component: the page's weighs more than it is worth there. */
export function Tooltip({ text, children }: { text: ReactNode; children: ReactNode }) {
  if (typeof text !== "string" || !isValidElement(children)) return children;
  return cloneElement(children as ReactElement<{ title?: string }>, { title: text });
}
