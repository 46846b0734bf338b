import { useEffect, useRef, useState, type ReactNode } from "react";
import { Choice } from "@/components/ui/Choice";
import { cn } from "@/lib/cn";
import { drew } from "@/lib/workspace/drew";
import { JsonView } from "./JsonView";

type Tab = "view" | "text" | "data";

/** settled is how long a view may take to draw what it measures first, in milliseconds. */
const settled = 200;

/**
 * WithData is a view of a payload with its data in a tab, and its text in another one where
 * that can be edited. The data are shown where the view drew none of them.
 */
export function WithData({ data, text, children }: { data: unknown; text?: ReactNode; children: ReactNode }) {
  const [chosen, setChosen] = useState<Tab | null>(null);
  const [blank, setBlank] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const tab = chosen ?? (blank ? "data" : "view");
  useEffect(() => {
    const node = box.current;
    if (!node) return;
    let timer = 0;
    const later = () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => setBlank(!showsPicture(node) && !drew(textOf(node), data)), settled);
    };
    const watch = new MutationObserver(later);
    watch.observe(node, { childList: true, characterData: true, subtree: true });
    later();
    return () => {
      watch.disconnect();
      window.clearTimeout(timer);
    };
  }, [data]);
  return (
    // A view that fills the panel has its height from here.
    <div className={cn("flex flex-col", tab === "view" ? "h-full" : "min-h-full")}>
      <div className="flex shrink-0 items-center justify-end gap-2 px-4 pt-2">
        <p role="status" className="flex-1 text-xs text-muted">
          {blank && tab === "data" ? "The view of this type shows none of these data." : ""}
        </p>
        <Choice<Tab> label="Show as" options={[{ id: "view", label: "View" }, ...(text ? [{ id: "text" as const, label: "Text" }] : []), { id: "data", label: "Data" }]} value={tab} onChange={setChosen} />
      </div>
      <div ref={box} className="min-h-0 flex-1" hidden={tab !== "view"}>
        {children}
      </div>
      {tab === "text" && text}
      {tab === "data" && (
        <div className="p-4">
          <JsonView value={data} />
        </div>
      )}
    </div>
  );
}

/** showsPicture reports whether a view has something that shows data without their text, or is its toolset's own. */
function showsPicture(box: HTMLElement): boolean {
  return box.querySelector("canvas, iframe, img, video, [data-own-view]") !== null;
}

/** textOf is what can be read of a view: its text, labels and fields, and what a host page puts into its slots. */
function textOf(box: HTMLElement): string {
  const slotted = [...box.querySelectorAll("slot")].flatMap((slot) => slot.assignedNodes({ flatten: true }).map((node) => node.textContent ?? ""));
  const labels = [...box.querySelectorAll("[aria-label], [title], input, textarea")].map(
    (e) => `${e.getAttribute("aria-label") ?? ""} ${e.getAttribute("title") ?? ""} ${"value" in e ? String(e.value) : ""}`,
  );
  return `${box.textContent} ${labels.join(" ")} ${slotted.join(" ")}`;
}
