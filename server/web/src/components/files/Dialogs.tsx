import { useState, type FormEvent } from "react";
import { Button } from "@/components/ui/Button";
import { Dialog } from "@/components/ui/Dialog";
import { useReturnFocus } from "./useReturnFocus";
import { problemOf } from "./upload";
import type { Blocked } from "./useFileActions";

/** NameDialog asks for a path: of a new file, or a new one of an old file. */
export function NameDialog({
  title,
  action,
  start,
  taken,
  onDone,
  onClose,
}: {
  title: string;
  action: string;
  start: string;
  taken: ReadonlySet<string>;
  onDone(path: string): void;
  onClose(): void;
}) {
  useReturnFocus();
  const [path, setPath] = useState(start);
  const problem = path === start ? "" : problemOf(path, taken);
  const ready = path !== start && problem === "" && path !== "" && !path.endsWith("/");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!ready) return;
    onDone(path);
    onClose();
  };
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={title}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        <label className="flex flex-col gap-1 text-[13px] text-muted">
          Path
          <input
            autoFocus
            value={path}
            onChange={(e) => setPath(e.target.value)}
            onFocus={(e) => e.target.setSelectionRange(e.target.value.lastIndexOf("/") + 1, e.target.value.length)}
            spellCheck={false}
            aria-invalid={problem !== ""}
            aria-describedby="path-problem"
            className="h-8 rounded-md border border-muted bg-bg px-2 font-mono text-[13px] text-ink"
          />
        </label>
        <p id="path-problem" role="status" className="min-h-5 text-[13px] text-bad">
          {problem}
        </p>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="accent" disabled={!ready}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** BlockedDialog lists the files that were changed since, by later calls or someone else, and leaves the choice. */
export function BlockedDialog({ blocked, onClose }: { blocked: Blocked; onClose(): void }) {
  useReturnFocus();
  const n = blocked.paths.length;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`${n === 1 ? "1 file was" : `${n} files were`} changed since`}
      about="Nothing was changed yet. What is overwritten can be restored."
      footer={
        <>
          <Button autoFocus onClick={onClose}>
            Cancel
          </Button>
          <Button onClick={blocked.keep}>Keep {n === 1 ? "it" : "them"}, restore the rest</Button>
          <Button look="danger" onClick={blocked.anyway}>
            {blocked.what} anyway
          </Button>
        </>
      }
    >
      <PathList paths={blocked.paths} />
    </Dialog>
  );
}

/** OverwriteDialog asks what becomes of files that an upload would take the place of. */
export function OverwriteDialog({ paths, onReplace, onSkip, onClose }: { paths: string[]; onReplace(): void; onSkip?: () => void; onClose(): void }) {
  useReturnFocus();
  const n = paths.length;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`${n === 1 ? "1 file is" : `${n} files are`} there already`}
      about="Replacing can be undone."
      footer={
        <>
          <Button autoFocus onClick={onClose}>
            Cancel
          </Button>
          {onSkip && <Button onClick={onSkip}>Upload the others</Button>}
          <Button look="accent" onClick={onReplace}>
            Replace {n === 1 ? "it" : "them"}
          </Button>
        </>
      }
    >
      <PathList paths={paths.map((path) => ({ path, reason: "" }))} />
    </Dialog>
  );
}

const most = 100;

function PathList({ paths }: { paths: { path: string; reason: string }[] }) {
  return (
    <ul className="flex flex-col gap-1 text-[13px]">
      {paths.slice(0, most).map(({ path, reason }) => (
        <li key={path} className="flex flex-wrap gap-x-3">
          <bdi className="font-mono break-all">{path}</bdi>
          <span className="text-muted">{reason}</span>
        </li>
      ))}
      {paths.length > most && <li className="text-muted">and {paths.length - most} more</li>}
    </ul>
  );
}
