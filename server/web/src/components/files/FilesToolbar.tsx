import { FilePlus, FolderUp, Redo2, Undo2, Upload as UploadIcon } from "lucide-react";
import { useRef } from "react";
import { Button, IconButton } from "@/components/ui/Button";
import { SearchField } from "@/components/ui/SearchField";
import { bytes } from "@/lib/time";
import { chosen, type Upload } from "./upload";
import type { FileActions } from "./useFileActions";

export interface FilesToolbarProps {
  filter: string;
  onFilter(text: string): void;
  /** none where an old state is shown */
  edit?: { actions: FileActions; canUndo: boolean; canRedo: boolean; onNew(): void; onUpload(uploads: Upload[]): void };
}

export function FilesToolbar({ filter, onFilter, edit }: FilesToolbarProps) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = (input: HTMLInputElement) => {
    if (input.files && input.files.length > 0) edit?.onUpload(chosen(input.files, ""));
    input.value = ""; // the same file can be chosen again
  };
  const progress = edit?.actions.progress;
  return (
    <div className="shrink-0 border-b border-border">
      <div className="flex flex-wrap items-center gap-1 px-2 py-1">
        <SearchField label="Filter files" value={filter} onChange={onFilter} />
        {edit && (
          <div className="flex">
            <IconButton label="Undo the last step (Ctrl+Z)" disabled={!edit.canUndo || edit.actions.busy} onClick={() => void edit.actions.undo()}>
              <Undo2 />
            </IconButton>
            <IconButton label="Redo (Ctrl+Shift+Z)" disabled={!edit.canRedo || edit.actions.busy} onClick={() => void edit.actions.redo()}>
              <Redo2 />
            </IconButton>
            <IconButton label="New file" onClick={edit.onNew}>
              <FilePlus />
            </IconButton>
            <IconButton label="Upload files" onClick={() => files.current?.click()}>
              <UploadIcon />
            </IconButton>
            <IconButton label="Upload a folder" onClick={() => folder.current?.click()}>
              <FolderUp />
            </IconButton>
            <input ref={files} type="file" multiple hidden aria-label="Files to upload" onChange={(e) => take(e.target)} />
            <input ref={folder} type="file" hidden aria-label="Folder to upload" {...{ webkitdirectory: "" }} onChange={(e) => take(e.target)} />
          </div>
        )}
      </div>
      {progress && (
        <div className="px-3 pb-2 text-xs text-muted">
          <div className="flex items-center gap-2">
            <p className="min-w-0 flex-1">
              <span role="status">{`Uploading ${progress.done + 1} of ${progress.of}`}</span>
              <span className="tabular-nums" aria-hidden="true">{`, ${bytes(progress.bytes)} of ${bytes(progress.all)}`}</span>
            </p>
            <Button size="small" look="quiet" onClick={edit?.actions.stopUpload}>
              Stop
            </Button>
          </div>
          <progress className="mt-1 h-1 w-full accent-accent" aria-label="Upload" value={progress.bytes} max={Math.max(1, progress.all)} />
        </div>
      )}
    </div>
  );
}
