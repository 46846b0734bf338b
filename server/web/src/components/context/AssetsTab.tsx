import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Download, FileText, Image, Plus, Trash2, Undo2 } from "lucide-react";
import { useRef, useState, type DragEvent } from "react";
import { Button, IconButton } from "@/components/ui/Button";
import { RelativeTime } from "@/components/ui/RelativeTime";
import { Empty, Failed, Skeleton } from "@/components/ui/States";
import { tell, tellFault } from "@/components/ui/Toasts";
import { api, request } from "@/lib/api/client";
import { cn } from "@/lib/cn";
import { saveBlob } from "@/lib/download";
import { byteText } from "./bytes";
import { ChatFiles } from "./ChatFiles";
import { documentName } from "./documentName";
import { DocumentSearch } from "./DocumentSearch";
import { useDocuments, type Document } from "./queries";

/** AssetsTab has the stored documents, which any chat can name, and what this chat's questions brought. */
export function AssetsTab() {
  const documents = useDocuments(false);
  const picker = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const { add, remove, restore } = useDocumentChanges();

  function drop(event: DragEvent) {
    event.preventDefault();
    setOver(false);
    add.mutate([...event.dataTransfer.files]);
  }

  return (
    <div
      className={cn("flex h-full flex-col", over && "outline-2 -outline-offset-2 outline-accent")}
      onDragOver={(e) => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <div className="flex shrink-0 items-center gap-2 p-3">
        <h3 className="min-w-0 flex-1 text-[13px] font-semibold">Documents</h3>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files to store"
          onChange={(e) => {
            add.mutate([...(e.target.files ?? [])]);
            e.target.value = "";
          }}
        />
        <Button size="small" disabled={add.isPending} onClick={() => picker.current?.click()}>
          <Plus className="size-4" aria-hidden="true" />
          {add.isPending ? "Storing…" : "Add"}
        </Button>
      </div>
      <div className="scroll-y min-h-0 flex-1 pb-3">
        {documents.data && documents.data.length > 0 && <DocumentSearch />}
        {documents.isPending && <Skeleton lines={6} />}
        {documents.isError && <Failed error={documents.error} what="The documents can't be listed" onRetry={() => void documents.refetch()} />}
        {documents.data?.length === 0 && (
          <Empty icon={<FileText />} title="No documents">
            Drop a text or an image here. Any chat can use it then, and it stays until you remove it.
          </Empty>
        )}
        <ul className="px-2">
          {documents.data?.map((document) => (
            <Row key={document.id} document={document}>
              <IconButton label={`Download ${document.name}`} onClick={() => void save(document)}>
                <Download />
              </IconButton>
              <IconButton label={`Remove ${document.name}`} onClick={() => remove.mutate(document)}>
                <Trash2 />
              </IconButton>
            </Row>
          ))}
        </ul>
        <Removed onRestore={(document) => restore.mutate(document)} />
        <ChatFiles />
      </div>
    </div>
  );
}

async function save(document: Document) {
  try {
    // It is fetched first: a link can't carry the token.
    saveBlob(await (await request(`/api/documents/${encodeURIComponent(document.id)}/content`)).blob(), document.name);
  } catch (error) {
    tellFault(`${document.name} isn't downloaded`, error);
  }
}

function useDocumentChanges() {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: ["documents"] });
  const restore = useMutation({
    mutationFn: (document: Document) => api.POST("/api/documents/{document}/restore", { params: { path: { document: document.id } } }),
    onSuccess: (_, document) => tell(`${document.name} is back`),
    onError: (error, document) => tellFault(`${document.name} isn't back`, error),
    onSettled: refresh,
  });
  const remove = useMutation({
    mutationFn: (document: Document) => api.DELETE("/api/documents/{document}", { params: { path: { document: document.id } } }),
    onSuccess: (_, document) => tell(`Removed ${document.name}. It can be brought back for 30 days`, { label: "Bring back", run: () => restore.mutate(document) }),
    onError: (error, document) => tellFault(`${document.name} stays`, error),
    onSettled: refresh,
  });
  const add = useMutation({
    mutationFn: async (files: File[]) => {
      for (const file of files) {
        try {
          const name = documentName(file.name);
          const response = await request(`/api/documents/${encodeURIComponent(name)}`, {
            method: "PUT",
            body: file,
            headers: { "Content-Type": "application/octet-stream" },
          });
          const { same } = (await response.json()) as { same?: boolean };
          tell(same ? `${name} was stored already, with these contents` : `Stored ${name}`);
        } catch (error) {
          tellFault(`${file.name} isn't stored`, error);
        }
      }
    },
    onSettled: refresh,
  });
  return { add, remove, restore };
}

function Row({ document, children }: { document: Document; children: React.ReactNode }) {
  const Kind = document.mime.startsWith("image/") ? Image : FileText;
  return (
    <li className="flex items-center gap-2 rounded-md py-0.5 pr-1 pl-2 hover:bg-raised">
      <Kind className="size-4 shrink-0 text-muted" aria-hidden="true" />
      <div className="min-w-0 flex-1 py-1 text-[13px]">
        <p className="truncate" title={document.name}>
          {document.name}
        </p>
        <p className="truncate text-muted">
          {byteText(document.size)} · <RelativeTime at={document.deleted_at ?? document.created_at} />
        </p>
      </div>
      {children}
    </li>
  );
}

function Removed({ onRestore }: { onRestore(document: Document): void }) {
  const [open, setOpen] = useState(false);
  const removed = useDocuments(true, open);
  return (
    <details className="mx-3 mt-3 text-[13px]" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary className="cursor-pointer rounded text-muted hover:text-ink">Removed</summary>
      {open && removed.isPending && <Skeleton lines={2} className="px-0" />}
      {removed.isError && <Failed error={removed.error} what="The removed documents can't be listed" onRetry={() => void removed.refetch()} />}
      {removed.data?.length === 0 && <p className="py-2 text-muted">None. What you remove stays here for 30 days.</p>}
      <ul className="-mx-1 mt-1">
        {removed.data?.map((document) => (
          <Row key={document.id} document={document}>
            <IconButton label={`Bring back ${document.name}`} onClick={() => onRestore(document)}>
              <Undo2 />
            </IconButton>
          </Row>
        ))}
      </ul>
    </details>
  );
}
