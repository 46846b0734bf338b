import { Undo2 } from "lucide-react";
import { Button } from "@/components/ui/Button";
import { BlockedDialog } from "./Dialogs";
import { useFileActions } from "./useFileActions";

/** UndoCall reverts one call, and asks where its files were changed since. */
export function UndoCall({ name, callId, chatId, undone }: { name: string; callId: string; chatId: string; undone: boolean }) {
  const actions = useFileActions(chatId);
  return (
    <>
      <Button size="small" look="quiet" disabled={actions.busy || undone} onClick={() => void actions.undoCall(name, callId)}>
        <Undo2 className="size-4" aria-hidden="true" />
        {undone ? "Undone" : "Undo"}
      </Button>
      {actions.blocked && <BlockedDialog blocked={actions.blocked} onClose={actions.closeBlocked} />}
    </>
  );
}
