import { cloneElement, isValidElement, type ReactElement, type ReactNode } from "react";

/** Tooltip is the browser's own in the web component: it lies over no part of a page that isn't ours. */
export function Tooltip({ text, children }: { text: ReactNode; children: ReactNode }) {
  if (typeof text !== "string" || !isValidElement(children)) return children;
  return cloneElement(children as ReactElement<{ title?: string }>, { title: text });
}
