import { useQuery } from "@tanstack/react-query";
import { Package, Upload } from "lucide-react";
import { useRef, useState } from "react";
import { Button } from "@/components/ui/Button";
import { Dialog } from "@/components/ui/Dialog";
import { Empty, Failed, Skeleton } from "@/components/ui/States";
import { api, unwrap } from "@/lib/api/client";
import { useUI } from "@/lib/ui";
import { useImports } from "./importing";
import { ToolsetCard } from "./ToolsetCard";
import { ToolsetDetails } from "./ToolsetDetails";

/** Manager is document 004's toolset manager. */
export default function Manager() {
  const setToolsets = useUI((s) => s.setToolsets);
  const begin = useImports((s) => s.begin);
  const picker = useRef<HTMLInputElement>(null);
  const [shown, setShown] = useState<string | null>(null);
  const toolsets = useQuery({ queryKey: ["toolsets"], queryFn: async () => unwrap(await api.GET("/api/toolsets")).toolsets });
  const choose = () => picker.current?.click();
  return (
    <Dialog
      open
      onOpenChange={setToolsets}
      title="Toolsets"
      about="Tools, agents, workflows and views that came as a bundle."
      wide
      footer={
        <>
          <p className="mr-auto self-center text-[13px] text-muted">Or drop a .zip or .tar.gz anywhere on the page.</p>
          <input
            ref={picker}
            type="file"
            hidden
            multiple
            accept=".zip,.tgz,.tar.gz,application/zip,application/gzip"
            aria-label="Bundles to import"
            onChange={(e) => {
              begin([...(e.target.files ?? [])]);
              e.target.value = "";
            }}
          />
          <Button look="accent" onClick={choose}>
            <Upload className="size-4" aria-hidden="true" />
            Import…
          </Button>
        </>
      }
    >
      {toolsets.isPending && <Skeleton lines={6} />}
      {toolsets.isError && <Failed error={toolsets.error} what="The toolsets can't be listed" onRetry={() => void toolsets.refetch()} />}
      {toolsets.data?.length === 0 && (
        <Empty icon={<Package />} title="No toolsets yet" action={<Button onClick={choose}>Choose a bundle</Button>}>
          A toolset is a folder with a toolset.yaml, packed as ZIP or tar.gz. You see all that it wants before it is installed.
        </Empty>
      )}
      <ul className="flex flex-col gap-3">
        {toolsets.data?.map((toolset) => (
          <ToolsetCard key={toolset.id} toolset={toolset} onShow={() => setShown(toolset.id)} />
        ))}
      </ul>
      {shown && <ToolsetDetails id={shown} onClose={() => setShown(null)} />}
    </Dialog>
  );
}
