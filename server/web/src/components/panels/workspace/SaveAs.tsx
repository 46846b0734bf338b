import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/components/ui/Button";
import { Dialog } from "@/components/ui/Dialog";
import { Failed } from "@/components/ui/States";
import { tell } from "@/components/ui/Toasts";
import { request } from "@/lib/api/client";
import { useUI } from "@/lib/ui";
import { useChat } from "@/hooks/useGeneralChat";

/** SaveAs writes a text into the chat's workspace. Only a file that isn't there yet: nothing is lost. */
export function SaveAs({ name, content, onClose }: { name: string; content: string; onClose(): void }) {
  const chatId = useChat((s) => s.chatId);
  const [path, setPath] = useState(name);
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: async (to: string) => {
      const place = to.split("/").map(encodeURIComponent).join("/");
      await request(`/api/chats/${encodeURIComponent(chatId ?? "")}/workspace/files/${place}`, { method: "PUT", body: content, headers: { "If-None-Match": "*" } });
      return to;
    },
    onSuccess: (to) => {
      void client.invalidateQueries({ queryKey: ["workspace", chatId] });
      tell(`Saved as ${to}`, { label: "Show", run: () => useUI.getState().select({ kind: "file", path: to }) });
      onClose();
    },
  });
  const ready = chatId !== null && path.trim() !== "";
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Save to the chat's files"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="accent" disabled={!ready || save.isPending} onClick={() => save.mutate(path.trim())}>
            Save
          </Button>
        </>
      }
    >
      {chatId === null ? (
        <p className="text-[13px] text-muted">A chat has files once something was asked in it.</p>
      ) : (
        <form
          onSubmit={(e) => {
            e.preventDefault();
            if (ready) save.mutate(path.trim());
          }}
        >
          <label className="flex flex-col gap-1 text-[13px]">
            Path in the workspace
            <input autoFocus value={path} onChange={(e) => setPath(e.target.value)} className="h-9 rounded-md border border-border bg-bg px-3 font-mono text-[13px]" />
          </label>
        </form>
      )}
      {save.isError && <Failed what="It was not saved" error={save.error} />}
    </Dialog>
  );
}
