import { ArrowLeft, Copy, Download, Pencil, Trash2 } from "lucide-react";
import { IconButton } from "@/components/ui/Button";
import { copy } from "@/lib/clipboard";
import { bytes } from "@/lib/time";
import { download } from "./download";
import { FileView } from "./FileView";
import type { TreeFile } from "./tree";
import type { FileState } from "./workspaceApi";

/** FilePane is one file with its name and what can be done with it. */
export function FilePane({
  chatId,
  path,
  file,
  state,
  readOnly,
  removed,
  onClose,
  onRename,
  onDelete,
}: {
  chatId: string;
  path: string;
  file?: TreeFile;
  state: FileState;
  readOnly: boolean;
  removed: boolean;
  onClose(): void;
  onRename(): void;
  onDelete(): void;
}) {
  const content = !file || file.kind === "file" || file.kind === "executable";
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex shrink-0 items-center gap-0.5 border-b border-border py-1 pr-1 pl-2">
        <span className="@min-[640px]:hidden">
          <IconButton label="Back to the files" onClick={onClose}>
            <ArrowLeft />
          </IconButton>
        </span>
        <h3 className="min-w-0 flex-1 truncate pl-1 font-mono text-[13px]" title={path}>
          <bdi>{path}</bdi>
        </h3>
        <span className="shrink-0 px-1 text-xs text-muted">
          {removed ? "removed in the last step" : file ? [bytes(file.size), file.kind === "executable" && "executable"].filter(Boolean).join(", ") : ""}
        </span>
        <IconButton label="Copy path" onClick={() => copy(path, "Path copied")}>
          <Copy />
        </IconButton>
        {content && (
          <IconButton label="Download" onClick={() => void download(chatId, path, state)}>
            <Download />
          </IconButton>
        )}
        {!readOnly && (
          <>
            <IconButton label="Rename" onClick={onRename}>
              <Pencil />
            </IconButton>
            <IconButton label="Delete" onClick={onDelete}>
              <Trash2 />
            </IconButton>
          </>
        )}
      </div>
      <div className="min-h-0 flex-1">
        <FileView chatId={chatId} path={path} state={state} readOnly={readOnly} file={file} />
      </div>
    </div>
  );
}
