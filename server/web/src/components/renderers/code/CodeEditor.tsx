import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, codeFolding, foldGutter, foldKeymap, indentOnInput } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Annotation, Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { useEffect, useEffectEvent, useRef } from "react";
import { nonce } from "@/lib/nonce";
import { languageOf, separatorOf } from "./language";
import { theme } from "./theme";

export interface CodeEditorProps {
  /** the text that it begins with; another one takes its place where it isn't what stands there */
  value: string;
  label: string;
  path?: string;
  language?: string;
  readOnly?: boolean;
  wrap?: boolean;
  onChange?(text: string): void;
  onSave?(): void;
}

// What the page puts into an editor, nobody has typed.
const given = Annotation.define<boolean>();

/** setup is what every editor of the page has. */
export function setup({ label, text, readOnly, wrap }: { label: string; text: string; readOnly: boolean; wrap: boolean }): Extension[] {
  return [
    EditorView.cspNonce.of(nonce()),
    EditorState.lineSeparator.of(separatorOf(text)),
    EditorState.readOnly.of(readOnly),
    // A reader can still put the cursor into it, and search.
    EditorView.contentAttributes.of({ "aria-label": label, ...(readOnly ? { "aria-readonly": "true", tabindex: "0" } : {}) }),
    lineNumbers(),
    codeFolding(),
    foldGutter({ openText: "▾", closedText: "▸" }),
    highlightSpecialChars(),
    drawSelection(),
    bracketMatching(),
    highlightSelectionMatches(),
    search({ top: true }),
    EditorView.perLineTextDirection.of(true),
    wrap ? EditorView.lineWrapping : [],
    readOnly ? [] : [history(), indentOnInput(), highlightActiveLine()],
    // Tab leaves a reader; in an editor Escape and then Tab does.
    keymap.of([...defaultKeymap, ...searchKeymap, ...foldKeymap, ...(readOnly ? [] : [...historyKeymap, indentWithTab])]),
    theme,
  ];
}

/** CodeEditor is CodeMirror in the page's looks. */
export default function CodeEditor({ value, label, path, language, readOnly = false, wrap = false, onChange, onSave }: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const changed = useEffectEvent((text: string) => onChange?.(text));
  const saved = useEffectEvent(() => onSave?.());
  const first = useEffectEvent(() => value);

  useEffect(() => {
    if (!place.current) return;
    const text = first();
    const colours = new Compartment();
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: text,
        extensions: [
          keymap.of([{ key: "Mod-s", preventDefault: true, run: () => (saved(), true) }]),
          setup({ label, text, readOnly, wrap }),
          colours.of([]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !update.transactions.every((t) => !t.docChanged || t.annotation(given))) changed(update.state.sliceDoc());
          }),
        ],
      }),
    });
    view.current = made;
    let here = true;
    languageOf(text, language, path).then(
      (support) => here && support && made.dispatch({ effects: colours.reconfigure(support) }),
      () => {}, // without colours it is still a text
    );
    return () => {
      here = false;
      view.current = null;
      made.destroy();
    };
  }, [label, path, language, readOnly, wrap]);

  useEffect(() => {
    const now = view.current;
    if (!now || now.state.sliceDoc() === value) return;
    now.dispatch({ changes: { from: 0, to: now.state.doc.length, insert: now.state.toText(value) }, annotations: given.of(true) });
  }, [value]);

  return <div ref={place} className="h-full min-h-0 overflow-hidden" />;
}
