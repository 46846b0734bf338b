import { useRef, useState } from "react";
import { tell, tellFault } from "@/components/ui/Toasts";
import { ApiFault } from "@/lib/api/fault";
import { draftKey, useDrafts } from "./drafts";
import { stepBack, takeBack } from "./takeBack";
import type { Upload } from "./upload";
import { useRefresh } from "./useWorkspace";
import { deleteFile, moveFile, putFile, redo, undo, uploadFile, type Restored, type RestoreOptions } from "./workspaceApi";

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
  const restoring = (what: string, said: (done: Restored) => string, step: (options: RestoreOptions) => Promise<Restored>, back?: { label: string; run(): Promise<unknown> }, options: RestoreOptions = {}): Promise<void> =>
    run(`${what} was not done`, async () => {
      try {
        const done = await step(options);
        tell(said(done), back && { label: back.label, run: () => void stepBack(chatId, done, back.run).then(refresh) });
      } catch (error) {
        if (!(error instanceof ApiFault) || error.status !== 409) throw error;
        const plan = await step({ ...options, dry_run: true });
        if (plan.blocked.length === 0) throw error;
        const again = (more: RestoreOptions) => {
          setBlocked(null);
          void restoring(what, said, step, back, { ...options, ...more });
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
    undo: () => restoring("Undo", (d) => `Undone: ${counted(d)}`, (o) => undo(chatId, o), { label: "Redo", run: () => redo(chatId) }),
    redo: () => restoring("Redo", (d) => `Redone: ${counted(d)}`, (o) => redo(chatId, o), { label: "Undo", run: () => undo(chatId) }),
  };
}

export type FileActions = ReturnType<typeof useFileActions>;

/** counted says what files a step touched: "2 files back, 1 removed". */
export function counted(done: Restored): string {
  const removed = done.changes.filter((c) => c.change === "removed").length;
  const back = done.changes.length - removed;
  const parts = [];
  if (back > 0) parts.push(`${back} ${back === 1 ? "file" : "files"} back`);
  if (removed > 0) parts.push(`${removed} removed`);
  return parts.join(", ") || "no file was different";
}
