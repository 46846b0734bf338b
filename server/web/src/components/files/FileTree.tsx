import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { ChevronDown, ChevronRight, File, FileImage, FileText, FileWarning, Folder, FolderOpen, Link2 } from "lucide-react";
import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import { cn } from "@/lib/cn";
import { bytes } from "@/lib/time";
import { draftKey, useDrafts } from "./drafts";
import { isMarkdown, looksLikeImage } from "./kinds";
import type { Mark, Row, TreeNode } from "./tree";

export const letters: Record<Mark, { letter: string; word: string; look: string }> = {
  added: { letter: "A", word: "added", look: "text-good" },
  modified: { letter: "M", word: "modified", look: "text-warn" },
  removed: { letter: "D", word: "removed", look: "text-bad" },
};

export interface FileTreeProps {
  chatId: string;
  rows: Row[];
  selected: string | null;
  onSelect(node: TreeNode): void;
  onToggle(path: string, open: boolean): void;
  onRename?(node: TreeNode): void;
  onDelete?(node: TreeNode): void;
}

const rowHeight = 28;

/**
 * FileTree is a tree after the WAI-ARIA practices. The focus stays on the tree, and
 * names its active row: rows out of sight aren't in the document.
 */
export function FileTree({ chatId, rows, selected, onSelect, onToggle, onRename, onDelete }: FileTreeProps) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<string | null>(selected);
  const typed = useRef({ text: "", at: 0 });
  const at = Math.max(0, rows.findIndex((row) => row.node.path === active));
  // eslint-disable-next-line react-hooks/incompatible-library -- the rows are drawn anew with each scroll
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    rangeExtractor: (range) => {
      const shown = defaultRangeExtractor(range);
      return at < rows.length && !shown.includes(at) ? [...shown, at].sort((a, b) => a - b) : shown;
    },
  });

  const [before, setBefore] = useState(selected);
  if (before !== selected) {
    setBefore(selected);
    if (selected) setActive(selected);
  }
  const place = selected ? rows.findIndex((row) => row.node.path === selected) : -1;
  useEffect(() => {
    if (place >= 0) list.scrollToIndex(place, { align: "auto" });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only where something else is chosen, not as rows open
  }, [selected]);

  const go = (index: number) => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, index))];
    if (!row) return;
    setActive(row.node.path);
    list.scrollToIndex(rows.indexOf(row), { align: "auto" });
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[at];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!act(event, row)) return;
    event.preventDefault();
    event.stopPropagation();
  };

  const act = (event: KeyboardEvent, row: Row): boolean => {
    const { node } = row;
    switch (event.key) {
      case "ArrowDown":
        go(at + 1);
        return true;
      case "ArrowUp":
        go(at - 1);
        return true;
      case "Home":
        go(0);
        return true;
      case "End":
        go(rows.length - 1);
        return true;
      case "PageDown":
      case "PageUp":
        go(at + (event.key === "PageDown" ? 1 : -1) * Math.max(1, Math.floor((scroller.current?.clientHeight ?? 280) / rowHeight) - 1));
        return true;
      case "ArrowRight":
        if (node.folder && !row.open) onToggle(node.path, true);
        else if (node.folder) go(at + 1);
        return true;
      case "ArrowLeft":
        if (node.folder && row.open) onToggle(node.path, false);
        else if (row.level > 1) go(rows.findLastIndex((r, i) => i < at && r.level < row.level));
        return true;
      case "Enter":
      case " ":
        if (node.folder) onToggle(node.path, !row.open);
        else onSelect(node);
        return true;
      case "F2":
        onRename?.(node);
        return onRename !== undefined;
      case "Delete":
        onDelete?.(node);
        return onDelete !== undefined;
    }
    if (event.key.length !== 1) return false;
    return find(event.key);
  };

  // Letters go to the next row whose name begins with them.
  const find = (key: string): boolean => {
    const now = Date.now();
    typed.current = { text: (now - typed.current.at < 600 ? typed.current.text : "") + key.toLowerCase(), at: now };
    const { text } = typed.current;
    const from = text.length === 1 ? at + 1 : at;
    for (let i = 0; i < rows.length; i++) {
      const index = (from + i) % rows.length;
      if (rows[index]?.node.name.toLowerCase().startsWith(text)) {
        go(index);
        return true;
      }
    }
    return false;
  };

  return (
    <div
      ref={scroller}
      role="tree"
      aria-label="Files"
      tabIndex={0}
      aria-activedescendant={rows.length > 0 ? `${id}-${at}` : undefined}
      onKeyDown={onKeyDown}
      className="group/tree scroll-y h-full min-h-0 outline-none"
    >
      <div role="presentation" className="relative w-full" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          return (
            <TreeRow
              key={row.node.path}
              id={`${id}-${item.index}`}
              chatId={chatId}
              row={row}
              top={item.start}
              active={item.index === at}
              selected={row.node.path === selected}
              onClick={() => {
                setActive(row.node.path);
                if (row.node.folder) onToggle(row.node.path, !row.open);
                else onSelect(row.node);
              }}
            />
          );
        })}
      </div>
    </div>
  );
}

function TreeRow({ id, chatId, row, top, active, selected, onClick }: { id: string; chatId: string; row: Row; top: number; active: boolean; selected: boolean; onClick(): void }) {
  const { node, level, open } = row;
  const unsaved = useDrafts((s) => !node.folder && draftKey(chatId, node.path) in s.drafts);
  const mark = node.mark ? letters[node.mark] : null;
  return (
    // The tree has the focus and the keys; a row takes clicks alone.
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      id={id}
      role="treeitem"
      aria-level={level}
      aria-setsize={row.siblings}
      aria-posinset={row.place}
      aria-expanded={node.folder ? open : undefined}
      aria-selected={selected}
      onClick={onClick}
      title={node.path}
      className={cn(
        "absolute left-0 flex h-7 w-full cursor-pointer items-center gap-1.5 pr-2 text-[13px]",
        selected ? "bg-raised" : "hover:bg-surface",
        active && "group-focus-visible/tree:outline-2 group-focus-visible/tree:-outline-offset-2 group-focus-visible/tree:outline-accent-ink",
      )}
      style={{ top, paddingLeft: 4 + (level - 1) * 12 }}
    >
      {node.folder ? open ? <ChevronDown className="size-4 shrink-0 text-muted" /> : <ChevronRight className="size-4 shrink-0 text-muted" /> : <span className="size-4 shrink-0" />}
      <Icon node={node} open={open} />
      <span className={cn("min-w-0 flex-1 truncate", node.mark === "removed" && "text-muted line-through")}>
        <bdi>{node.name}</bdi>
      </span>
      {unsaved && <span className="shrink-0 rounded-full bg-accent px-1.5 text-xs text-on-accent">not saved</span>}
      {mark && (
        <span className={cn("shrink-0 font-mono text-xs", mark.look)} title={`${mark.word} in the last step`}>
          {mark.letter}
          <span className="sr-only"> {mark.word}</span>
        </span>
      )}
      {node.folder && !open && node.changed > 0 && <span className="shrink-0 text-xs text-warn">{node.changed.toLocaleString("en")} changed</span>}
      <span className="shrink-0 text-xs text-muted tabular-nums">{node.folder ? count(node.files) : bytes(node.size)}</span>
    </div>
  );
}

function count(files: number): string {
  return `${files.toLocaleString("en")} ${files === 1 ? "file" : "files"}`;
}

function Icon({ node, open }: { node: TreeNode; open: boolean }) {
  const look = "size-4 shrink-0 text-muted";
  if (node.folder) return open ? <FolderOpen className={look} aria-hidden="true" /> : <Folder className={look} aria-hidden="true" />;
  const kind = node.file?.kind;
  if (kind === "link") return <Link2 className={look} aria-hidden="true" />;
  if (kind !== "file" && kind !== "executable") return <FileWarning className="size-4 shrink-0 text-warn" aria-hidden="true" />;
  if (looksLikeImage(node.path)) return <FileImage className={look} aria-hidden="true" />;
  if (isMarkdown(node.path)) return <FileText className={look} aria-hidden="true" />;
  return <File className={look} aria-hidden="true" />;
}
