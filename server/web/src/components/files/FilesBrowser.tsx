import { FolderOpen, History, RotateCcw } from "lucide-react";
import { useMemo, useState, type DragEvent, type KeyboardEvent } from "react";
import { Button } from "@/components/ui/Button";
import { RelativeTime } from "@/components/ui/RelativeTime";
import { Empty, Failed, Skeleton } from "@/components/ui/States";
import { cn } from "@/lib/cn";
import { canRedo } from "./changes";
import { BlockedDialog, NameDialog, OverwriteDialog } from "./Dialogs";
import { FilePane } from "./FilePane";
import { FilesToolbar } from "./FilesToolbar";
import { FileTree } from "./FileTree";
import { folderOf } from "./kinds";
import { above, buildTree, openAtFirst, rowsOf, type Mark, type TreeFile, type TreeNode } from "./tree";
import { dropped, type Upload } from "./upload";
import { counted, useFileActions } from "./useFileActions";
import { useDiff, useFiles, useStates } from "./useWorkspace";
import { restoreState } from "./workspaceApi";

export interface FilesBrowserProps {
  chatId: string;
  /** a file to show at once */
  path?: string;
  /** a state of the workspace; without it, as it is now */
  manifestId?: string;
  /** told where the person goes back from an old state */
  onLeave?(): void;
}

/** FilesBrowser is a chat's files: their tree, one of them, and what can be done with them. */
export default function FilesBrowser(props: FilesBrowserProps) {
  const { chatId, manifestId } = props;
  const files = useFiles(chatId, manifestId);
  if (files.isError && !files.data) return <Failed what="The files could not be listed" error={files.error} onRetry={() => void files.refetch()} />;
  if (!files.data) return <Skeleton lines={8} />;
  // What is opened and chosen belongs to one chat and state.
  return <Browser key={`${chatId} ${manifestId ?? ""}`} {...props} listed={files.data.files} truncated={files.data.truncated ?? false} at={files.data.manifest?.created_at} />;
}

function Browser({ chatId, path, manifestId, onLeave, listed, truncated, at }: FilesBrowserProps & { listed: TreeFile[]; truncated: boolean; at?: string }) {
  const old = manifestId !== undefined;
  const states = useStates(chatId);
  const diff = useDiff(chatId, undefined, manifestId, listed.length > 0 || (states.data?.states.length ?? 0) > 0);
  const actions = useFileActions(chatId);
  const [filter, setFilter] = useState("");
  const [selected, setSelected] = useState<string | null>(path ?? null);
  const [asking, setAsking] = useState<{ kind: "new" } | { kind: "rename"; path: string } | { kind: "overwrite"; uploads: Upload[] } | null>(null);
  const [over, setOver] = useState(false);

  const root = useMemo(() => {
    const marks = new Map<string, Mark>();
    const gone: TreeFile[] = [];
    const there = new Set(listed.map((file) => file.path)); // the lists may be of two moments
    for (const change of diff.data?.changes ?? []) {
      marks.set(change.path, change.change as Mark);
      if (change.change === "removed" && change.old && !there.has(change.path)) gone.push(change.old);
    }
    return buildTree(listed, marks, gone);
  }, [listed, diff.data]);
  const [open, setOpen] = useState(() => new Set([...openAtFirst(buildTree(listed)), ...(path ? above(path) : [])]));
  const rows = useMemo(() => rowsOf(root, open, filter), [root, open, filter]);
  const known = useMemo(() => new Map(listed.map((file) => [file.path, file])), [listed]);
  const taken = useMemo(() => new Set(known.keys()), [known]);

  // Another file that the page asks for is opened where the browser stands already.
  const [asked, setAsked] = useState(path);
  if (asked !== path) {
    setAsked(path);
    if (path) {
      setSelected(path);
      setOpen(new Set([...open, ...above(path)]));
    }
  }

  const gone = selected ? diff.data?.changes.find((c) => c.path === selected && c.change === "removed")?.old : undefined;
  const list = states.data?.states ?? [];
  const redoable = canRedo(list);
  const canUndo = list.some((s) => s.active && s.parent_id);

  const toggle = (folder: string, to: boolean) => {
    const next = new Set(open);
    if (to) next.add(folder);
    else next.delete(folder);
    setOpen(next);
  };
  const upload = (uploads: Upload[]) => {
    if (uploads.some((u) => taken.has(u.path))) setAsking({ kind: "overwrite", uploads });
    else void actions.upload(uploads);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const into = selected ? folderOf(selected) : "";
    void dropped(event.dataTransfer.items, into).then((uploads) => uploads.length > 0 && upload(uploads));
  };
  const keys = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if (event.key === "Escape" && selected && !event.defaultPrevented) {
      // One level: from the file to the tree, where only one of them is seen.
      setSelected(null);
      event.stopPropagation();
      return;
    }
    if (old || !(event.ctrlKey || event.metaKey) || target.closest("input, textarea, [contenteditable=true], .cm-editor, [role=dialog]")) return;
    const key = event.key.toLowerCase();
    if (key === "z") void (event.shiftKey ? actions.redo() : actions.undo());
    else if (key === "y") void actions.redo();
    else return;
    event.preventDefault();
  };
  const bringBack = () =>
    manifestId &&
    void actions
      .restoring("Restore", (d) => `Restored this state: ${counted(d)}`, (o) => restoreState(chatId, manifestId, o))
      .then(onLeave);

  return (
    // The keys are shortcuts of what stands in it; drops have buttons beside them.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div
      onKeyDown={keys}
      onDragOver={(e) => {
        if (old || !e.dataTransfer.types.includes("Files")) return;
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={(e) => !e.currentTarget.contains(e.relatedTarget as Node) && setOver(false)}
      onDrop={old ? undefined : drop}
      className={cn("@container relative flex h-full min-h-0 flex-col", over && "outline-2 -outline-offset-2 outline-accent outline-dashed")}
    >
      {old && <OldState at={at} onBack={bringBack} onLeave={onLeave} busy={actions.busy} />}
      <div className="flex min-h-0 flex-1">
        <div className={cn("min-h-0 min-w-0 flex-1 flex-col @min-[640px]:flex @min-[640px]:max-w-72", selected ? "hidden" : "flex")}>
          <FilesToolbar filter={filter} onFilter={setFilter} edit={old ? undefined : { actions, canUndo, canRedo: redoable, onNew: () => setAsking({ kind: "new" }), onUpload: upload }} />
          {truncated && <p className="border-b border-border px-3 py-1.5 text-[13px] text-warn">Only the first {listed.length.toLocaleString("en")} files are listed.</p>}
          <div className="min-h-0 flex-1">
            {rows.length > 0 ? (
              <FileTree
                chatId={chatId}
                rows={rows}
                selected={selected}
                onSelect={(node) => setSelected(node.path)}
                onToggle={toggle}
                onRename={old ? undefined : (node) => node.mark !== "removed" && setAsking({ kind: "rename", path: node.path })}
                onDelete={old ? undefined : (node: TreeNode) => node.mark !== "removed" && void actions.remove(node.path)}
              />
            ) : filter ? (
              <Empty title="No file matches">Nothing here has “{filter}” in its path.</Empty>
            ) : (
              <Empty
                icon={<FolderOpen />}
                title="No files yet"
                action={old ? undefined : <Button onClick={() => setAsking({ kind: "new" })}>New file</Button>}
              >
                {old ? "This state had none." : "What tools write stands here, with every state it was in. Files can be dropped here too."}
              </Empty>
            )}
          </div>
        </div>
        <div className={cn("min-h-0 min-w-0 flex-[2] border-border @min-[640px]:block @min-[640px]:border-l", !selected && "hidden")}>
          {selected ? (
            <FilePane
              key={selected}
              chatId={chatId}
              path={selected}
              file={gone ?? known.get(selected)}
              state={gone ? { manifest: diff.data?.from } : manifestId ? { manifest: manifestId } : {}}
              readOnly={old || gone !== undefined}
              removed={gone !== undefined}
              onClose={() => setSelected(null)}
              onRename={() => setAsking({ kind: "rename", path: selected })}
              onDelete={() => {
                setSelected(null);
                void actions.remove(selected);
              }}
            />
          ) : (
            <Empty title="No file is open">Choose one to read or edit it.</Empty>
          )}
        </div>
      </div>
      {asking?.kind === "new" && (
        <NameDialog title="New file" action="Make it" start={selected && folderOf(selected) ? folderOf(selected) + "/" : ""} taken={taken} onClose={() => setAsking(null)} onDone={(to) => void actions.create(to).then(() => setSelected(to))} />
      )}
      {asking?.kind === "rename" && (
        <NameDialog
          title={`Rename ${asking.path}`}
          action="Rename"
          start={asking.path}
          taken={taken}
          onClose={() => setAsking(null)}
          onDone={(to) => void actions.rename(asking.path, to).then(() => selected === asking.path && setSelected(to))}
        />
      )}
      {asking?.kind === "overwrite" && (
        <OverwriteDialog
          paths={asking.uploads.map((u) => u.path).filter((p) => taken.has(p))}
          onClose={() => setAsking(null)}
          onReplace={() => {
            setAsking(null);
            void actions.upload(asking.uploads);
          }}
          onSkip={
            asking.uploads.every((u) => taken.has(u.path))
              ? undefined
              : () => {
                  setAsking(null);
                  void actions.upload(asking.uploads.filter((u) => !taken.has(u.path)));
                }
          }
        />
      )}
      {actions.blocked && <BlockedDialog blocked={actions.blocked} onClose={actions.closeBlocked} />}
    </div>
  );
}

function OldState({ at, onBack, onLeave, busy }: { at?: string; onBack(): void; onLeave?: () => void; busy: boolean }) {
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-border bg-surface px-3 py-1.5 text-[13px]">
      <History className="size-4 shrink-0 text-accent-ink" aria-hidden="true" />
      <p className="min-w-0 flex-1">
        The files as they were {at ? <RelativeTime at={at} /> : "then"}. <span className="text-muted">They can be read, not edited.</span>
      </p>
      {onLeave && (
        <Button size="small" look="quiet" onClick={onLeave}>
          Back
        </Button>
      )}
      <Button size="small" disabled={busy} onClick={onBack}>
        <RotateCcw className="size-4" aria-hidden="true" />
        Bring this state back
      </Button>
    </div>
  );
}
