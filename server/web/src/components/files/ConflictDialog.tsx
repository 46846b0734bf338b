import { MergeCode } from "@/components/renderers/code";
import { Button } from "@/components/ui/Button";
import { Dialog } from "@/components/ui/Dialog";
import type { Conflict } from "./useEditedFile";

/** ConflictDialog tells that a file was changed by someone else, and shows both forms of it. Closing it keeps what was written. */
export function ConflictDialog({
  path,
  conflict,
  mine,
  saving,
  onChange,
  onSave,
  onDiscard,
  onClose,
}: {
  path: string;
  conflict: Conflict;
  mine: string;
  saving: boolean;
  onChange(text: string): void;
  onSave(): void;
  onDiscard(): void;
  onClose(): void;
}) {
  return (
    <Dialog
      open
      wide
      onOpenChange={(open) => !open && onClose()}
      title={conflict.gone ? `${path} was removed meanwhile` : `${path} was changed meanwhile`}
      about={
        conflict.gone
          ? "Nothing was saved. Your text is kept until you discard it."
          : "Nothing was saved. The file as it is now is on the left, your text on the right; the arrows take parts over."
      }
      footer={
        <>
          <Button look="danger" onClick={onDiscard}>
            Discard my text
          </Button>
          <Button look="accent" disabled={saving} onClick={onSave}>
            {conflict.gone ? "Write the file again" : "Save my text"}
          </Button>
        </>
      }
    >
      {!conflict.gone && (
        <div className="h-[50dvh] overflow-hidden rounded-md border border-border">
          <MergeCode theirs={conflict.theirs} mine={mine} onChange={onChange} />
        </div>
      )}
    </Dialog>
  );
}
