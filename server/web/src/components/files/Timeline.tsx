import { ArrowLeft, GitCommitVertical, Redo2, Undo2, X } from "lucide-react";
import { useMemo, useState, type KeyboardEvent } from "react";
import { Button, IconButton } from "@/components/ui/Button";
import { Empty, Failed, Skeleton } from "@/components/ui/States";
import { useChat } from "@/hooks/useGeneralChat";
import { canRedo } from "./changes";
import { BlockedDialog } from "./Dialogs";
import DiffView from "./DiffView";
import FilesBrowser from "./FilesBrowser";
import { said } from "./stateWords";
import { TimelineList } from "./TimelineList";
import { counted, useFileActions } from "./useFileActions";
import { useKeptFocus } from "./useKeptFocus";
import { useBranches, useStates } from "./useWorkspace";
import { restoreState, type WorkspaceState } from "./workspaceApi";

type View = { kind: "list" } | { kind: "tree"; manifestId?: string } | { kind: "diff"; title: string; from?: string; to?: string };

// A first look needs a screen of them; the server lists so many at once.
const firstStates = 200;
const mostStates = 1000;

/** Timeline is every state that a chat's files were in, what made it, and the way back to it. */
export default function Timeline({ chatId }: { chatId: string }) {
  const [limit, setLimit] = useState(firstStates);
  const states = useStates(chatId, limit);
  const actions = useFileActions(chatId);
  const [view, setView] = useState<View>({ kind: "list" });
  const [reached, setReached] = useState<string | null>(null);
  const [comparing, setComparing] = useState<WorkspaceState | null>(null);
  const box = useKeptFocus(view.kind + (comparing?.id ?? ""));
  const list = useMemo(() => states.data?.states ?? [], [states.data]);
  const branches = useBranches(chatId);
  const ends = useMemo(() => new Map((branches.data ?? []).flatMap((b) => (b.manifest_id && !b.active ? [[b.manifest_id, b] as const] : []))), [branches.data]);
  const { switchTo } = useChat((s) => ({ switchTo: s.switchTo }));

  if (states.isError && !states.data) return <Failed what="The timeline could not be read" error={states.error} onRetry={() => void states.refetch()} />;
  if (!states.data) return <Skeleton lines={8} />;
  if (list.length === 0) {
    return (
      <Empty icon={<GitCommitVertical />} title="No states yet">
        Each tool call, edit and upload leaves a state of the files here. Any of them can be brought back.
      </Empty>
    );
  }

  const restore = (id: string) =>
    void actions.restoring(
      "Restore",
      (done) => `Restored: ${counted(done)}`,
      (options) => restoreState(chatId, id, options),
    );
  const choose = (state: WorkspaceState) => {
    if (!comparing) return setView({ kind: "tree", manifestId: state.active ? undefined : state.id });
    if (comparing.id === state.id) return setComparing(null);
    // The older one is what it is compared with.
    const [from, to] = list.indexOf(comparing) > list.indexOf(state) ? [comparing, state] : [state, comparing];
    setView({ kind: "diff", title: `From ${said(from)} to ${said(to)}`, from: from.id, to: to.id });
  };
  const canUndo = list.some((s) => s.active && s.parent_id);
  const redoable = canRedo(list);
  const keys = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if (event.key === "Escape" && (comparing || view.kind !== "list")) {
      if (view.kind !== "list") setView({ kind: "list" });
      else setComparing(null);
      event.stopPropagation();
      return;
    }
    if (!(event.ctrlKey || event.metaKey) || event.defaultPrevented || target.closest("input, textarea, .cm-editor, [role=dialog]")) return;
    const key = event.key.toLowerCase();
    if (key === "z") void (event.shiftKey ? actions.redo() : actions.undo());
    else if (key === "y") void actions.redo();
    else return;
    event.preventDefault();
  };

  return (
    // The keys are shortcuts of the buttons in it.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div ref={box} tabIndex={-1} className="@container flex h-full min-h-0 flex-col outline-none" onKeyDown={keys}>
      {view.kind === "tree" && (
        <FilesBrowser chatId={chatId} manifestId={view.manifestId} onLeave={() => setView({ kind: "list" })} />
      )}
      {view.kind === "diff" && (
        <>
          <div className="flex shrink-0 items-center gap-1 border-b border-border py-1 pr-3 pl-1 text-[13px]">
            <IconButton label="Back to the timeline" onClick={() => setView({ kind: "list" })}>
              <ArrowLeft />
            </IconButton>
            <h3 className="min-w-0 flex-1 truncate">{view.title}</h3>
          </div>
          <div className="min-h-0 flex-1">
            <DiffView chatId={chatId} from={view.from} to={view.to} />
          </div>
        </>
      )}
      {view.kind === "list" && (
        <>
          <div className="flex shrink-0 items-center gap-1 border-b border-border px-2 py-1 text-[13px]">
            {comparing ? (
              <>
                <p role="status" className="min-w-0 flex-1 truncate pl-1">
                  Compare {said(comparing)} with: choose another state
                </p>
                <IconButton label="Stop comparing" onClick={() => setComparing(null)}>
                  <X />
                </IconButton>
              </>
            ) : (
              <>
                <Button size="small" look="quiet" disabled={!canUndo || actions.busy} onClick={() => void actions.undo()} title="Ctrl+Z">
                  <Undo2 className="size-4" aria-hidden="true" />
                  Undo
                </Button>
                <Button size="small" look="quiet" disabled={!redoable || actions.busy} onClick={() => void actions.redo()} title="Ctrl+Shift+Z">
                  <Redo2 className="size-4" aria-hidden="true" />
                  Redo
                </Button>
                <span className="flex-1" />
                <span className="pr-1 text-muted">
                  {list.length}
                  {states.data.more ? "+" : ""} {list.length === 1 ? "state" : "states"}
                </span>
              </>
            )}
          </div>
          <TimelineList
            states={list}
            ends={ends}
            comparing={comparing}
            reached={reached}
            onReach={setReached}
            onChoose={choose}
            onRestore={(state) => restore(state.id)}
            onDiff={(state) => setView({ kind: "diff", title: `What ${said(state)} changed`, to: state.id })}
            onCompare={setComparing}
            onSwitch={(branch) => void switchTo(branch.leaf_message_id)}
          >
            {states.data.more && (
              <div className="p-3 text-[13px] text-muted">
                {limit < mostStates ? (
                  <Button size="small" disabled={states.isFetching} onClick={() => setLimit(mostStates)}>
                    {states.isFetching ? "Loading" : "Show older states"}
                  </Button>
                ) : (
                  "Older ones are kept, and not listed here."
                )}
              </div>
            )}
          </TimelineList>
        </>
      )}
      {actions.blocked && <BlockedDialog blocked={actions.blocked} onClose={actions.closeBlocked} />}
    </div>
  );
}
