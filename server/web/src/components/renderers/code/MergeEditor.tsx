import { MergeView } from "@codemirror/merge";
import { EditorView } from "@codemirror/view";
import { useEffect, useEffectEvent, useRef } from "react";
import { setup } from "./CodeEditor";

/** MergeEditor shows two forms of a text beside each other; the second can be edited, and takes parts of the first by the arrows between them. */
export default function MergeEditor({ theirs, mine, onChange }: { theirs: string; mine: string; onChange(text: string): void }) {
  const place = useRef<HTMLDivElement>(null);
  const changed = useEffectEvent((text: string) => onChange(text));
  const first = useEffectEvent(() => mine);
  useEffect(() => {
    if (!place.current) return;
    const own = first();
    const merge = new MergeView({
      parent: place.current,
      a: { doc: theirs, extensions: setup({ label: "The file as it is now", text: theirs, readOnly: true, wrap: true }) },
      b: {
        doc: own,
        extensions: [
          setup({ label: "Your text", text: own, readOnly: false, wrap: true }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed(update.state.sliceDoc());
          }),
        ],
      },
      revertControls: "a-to-b",
      renderRevertControl: () => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = "→";
        button.setAttribute("aria-label", "Take this part of the file");
        return button;
      },
      collapseUnchanged: { margin: 3, minSize: 6 },
      diffConfig: { scanLimit: 1_000, timeout: 500 },
    });
    return () => merge.destroy();
  }, [theirs]);
  return <div ref={place} className="scroll-y h-full" />;
}
