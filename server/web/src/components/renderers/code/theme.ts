import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

// The page's tokens are variables, so that one theme stands for dark and light and
// a switch needs no new editor.
const look = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--fettle-bg)", color: "var(--fettle-text-primary)", fontSize: "13px" },
  "&.cm-focused": { outline: "2px solid var(--fettle-accent-ink)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "20px", scrollbarWidth: "thin" },
  ".cm-content": { caretColor: "var(--fettle-accent-ink)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--fettle-accent-ink)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--fettle-bg)", color: "var(--fettle-text-muted)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--fettle-surface)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--fettle-code-selection)",
  },
  ".cm-selectionMatch, .cm-searchMatch": { backgroundColor: "var(--fettle-code-selection)", outline: "1px solid var(--fettle-border)" },
  ".cm-searchMatch-selected": { outline: "1px solid var(--fettle-accent-ink)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--fettle-raised)", outline: "1px solid var(--fettle-text-muted)" },
  ".cm-panels": { backgroundColor: "var(--fettle-surface)", color: "var(--fettle-text-primary)", borderColor: "var(--fettle-border)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--fettle-border)" },
  ".cm-textfield": { backgroundColor: "var(--fettle-bg)", border: "1px solid var(--fettle-text-muted)", borderRadius: "4px" },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--fettle-raised)", border: "1px solid var(--fettle-border)", borderRadius: "4px" },
  ".cm-specialChar": { color: "var(--fettle-bad)" },
  ".cm-tooltip": { backgroundColor: "var(--fettle-surface)", border: "1px solid var(--fettle-border)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--fettle-raised)", border: "none", color: "var(--fettle-text-muted)" },
  // Of @codemirror/merge.
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": { backgroundColor: "var(--fettle-removed)" },
  "&.cm-merge-b .cm-changedLine": { backgroundColor: "var(--fettle-added)" },
  "&.cm-merge-a .cm-changedText, &.cm-merge-b .cm-changedText": { background: "none", textDecoration: "underline", textDecorationThickness: "1px" },
  ".cm-collapsedLines": { background: "var(--fettle-surface)", color: "var(--fettle-text-muted)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.controlKeyword], color: "var(--fettle-accent-ink)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.inserted], color: "var(--fettle-good)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.escape], color: "var(--fettle-warn)" },
  { tag: [tags.comment, tags.meta, tags.processingInstruction], color: "var(--fettle-text-muted)", fontStyle: "italic" },
  { tag: [tags.function(tags.variableName), tags.definition(tags.propertyName), tags.propertyName, tags.attributeName], color: "var(--fettle-code-name)" },
  { tag: [tags.typeName, tags.className, tags.tagName, tags.namespace, tags.labelName], color: "var(--fettle-code-type)" },
  { tag: [tags.heading, tags.strong], fontWeight: "600" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: [tags.link, tags.url], color: "var(--fettle-code-name)", textDecoration: "underline" },
  { tag: [tags.deleted, tags.invalid], color: "var(--fettle-bad)" },
]);

export const theme: Extension = [look, syntaxHighlighting(colours)];
