import { useRef, useState } from "react";
import { tell, tellFault } from "@/components/ui/Toasts";
import { ApiFault } from "@/lib/api/fault";
import { draftKey, useDrafts } from "./drafts";
import { stepBack, takeBack } from "./takeBack";
import type { Upload } from "./upload";
import { useRefresh } from "./useWorkspace";
import { deleteFile, moveFile, putFile, redo, undo, undoCall, uploadFile, type Restored, type RestoreOptions } from "./workspaceApi";

export interface Progress {
  done: number;
  of: number;
  bytes: number;
  all: number;
}

/** Blocked is a step that someone else's changes are in the way of. */
export interface Blocked {
  what: string;
  paths: { path: string; reason: string }[];
  anyway(): void;
  keep(): void;
}

/** useFileActions are what a person can do with a chat's files; each can be taken back. */
export function useFileActions(chatId: string) {
  const refresh = useRefresh(chatId);
  const keepDraft = useDrafts((s) => s.keep);
  const [progress, setProgress] = useState<Progress | null>(null);
  const stop = useRef<AbortController | null>(null);
  const [blocked, setBlocked] = useState<Blocked | null>(null);
  const [busy, setBusy] = useState(false);

  const offerUndo = (done: Restored, paths: string[]) => ({
    label: "Undo",
    run: () => void takeBack(chatId, done, paths).then(refresh),
  });

  const run = async (failure: string, work: () => Promise<void>) => {
    setBusy(true);
    try {
      await work();
    } catch (error) {
      tellFault(failure, error);
    } finally {
      setBusy(false);
      await refresh();
    }
  };

  const remove = (path: string) =>
    run(`${path} was not deleted`, async () => {
      const done = await deleteFile(chatId, path);
      keepDraft(chatId, path, null);
      tell(`Deleted ${path}`, offerUndo(done, [path]));
    });

  const rename = (from: string, to: string) =>
    run(`${from} was not renamed`, async () => {
      const done = await moveFile(chatId, from, to);
      const draft = useDrafts.getState().drafts[draftKey(chatId, from)];
      if (draft) {
        keepDraft(chatId, to, draft);
        keepDraft(chatId, from, null);
      }
      tell(`Renamed ${from} to ${to}`, offerUndo(done, [from, to]));
    });

  const create = (path: string) =>
    run(`${path} was not made`, async () => {
      const done = await putFile(chatId, path, "", "new");
      tell(`Made ${path}`, offerUndo(done, [path]));
    });

  const upload = (uploads: Upload[]) =>
    run("The upload stopped", async () => {
      const all = uploads.reduce((sum, u) => sum + u.file.size, 0);
      let first: Restored | null = null;
      let last: Restored | null = null;
      let sent = 0;
      const paths: string[] = []; // that are there
      const { signal } = (stop.current = new AbortController());
      try {
        for (const [i, { path, file }] of uploads.entries()) {
          const show = (bytes: number) => setProgress({ done: i, of: uploads.length, bytes: sent + Math.min(bytes, file.size), all });
          show(0);
          last = await uploadFile(chatId, path, file, { signal, onSent: show });
          first ??= last;
          sent += file.size;
          paths.push(path);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        setProgress(null);
        stop.current = null;
      }
      if (!first || !last) {
        tell("The upload was stopped: no file has changed");
        return;
      }
      const name = paths.length === 1 ? (paths[0] ?? "") : `${paths.length} files`;
      // One file's step can be undone as one; those of several are brought back from before the first.
      tell(`Uploaded ${name}${signal.aborted ? ` of ${uploads.length}, then it was stopped` : ""}`, offerUndo(paths.length === 1 ? first : { ...first, after: undefined }, paths));
    });

  /** restoring runs undo, redo or restore; where others changed files since, it shows which. */
  const restoring = (what: string, said: (done: Restored) => string, step: (options: RestoreOptions) => Promise<Restored>, options: RestoreOptions = {}): Promise<void> =>
    run(`${what} was not done`, async () => {
      try {
        const done = await step(options);
        const again = done.inverse === "redo";
        // What nothing was changed for is no step.
        if (done.before === done.after) tell(said(done));
        else tell(said(done), { label: again ? "Redo" : "Undo", run: () => void stepBack(chatId, done, () => (again ? redo(chatId) : undo(chatId))).then(refresh) });
      } catch (error) {
        if (!(error instanceof ApiFault) || error.status !== 409) throw error;
        const plan = await step({ ...options, dry_run: true });
        if (plan.blocked.length === 0) throw error;
        const again = (more: RestoreOptions) => {
          setBlocked(null);
          void restoring(what, said, step, { ...options, ...more });
        };
        setBlocked({
          what,
          paths: plan.blocked,
          anyway: () => again({ overwrite: true }),
          keep: () => again({ keep: plan.blocked.map((b) => b.path) }),
        });
      }
    });

  return {
    progress,
    blocked,
    closeBlocked: () => setBlocked(null),
    busy,
    remove,
    rename,
    create,
    upload,
    stopUpload: () => stop.current?.abort(),
    restoring,
    undo: () => restoring("Undo", (d) => `Undone: ${counted(d)}`, (o) => undo(chatId, o)),
    redo: () => restoring("Redo", (d) => `Redone: ${counted(d)}`, (o) => redo(chatId, o)),
    /** undoCall reverts one call, wherever it is in the history. */
    undoCall: (name: string, call: string) => restoring("Undo", (d) => `Undid ${name}: ${counted(d)}`, (o) => undoCall(chatId, call, o)),
  };
}

export type FileActions = ReturnType<typeof useFileActions>;

/** counted says what became of the files of a step, and names the first: "2 files restored, 1 removed: a, b, c". */
export function counted({ summary }: Restored): string {
  const { files, more, restored, removed, modes } = summary;
  const parts = [];
  if (restored > 0) parts.push(`${restored} ${restored === 1 ? "file" : "files"} restored`);
  if (removed > 0) parts.push(`${removed} removed`);
  if (modes > 0) parts.push(`${modes} ${modes === 1 ? "mode" : "modes"} restored`);
  if (parts.length === 0) return "no file was different";
  return `${parts.join(", ")}: ${files.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
