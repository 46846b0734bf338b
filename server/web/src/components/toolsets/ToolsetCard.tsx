import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Download, Info, Trash2 } from "lucide-react";
import { useState } from "react";
import { useGroupSwitch } from "@/components/context/queries";
import { Problem } from "@/components/context/ToolGroupList";
import { Button, IconButton } from "@/components/ui/Button";
import { RelativeTime } from "@/components/ui/RelativeTime";
import { Switch } from "@/components/ui/Switch";
import { tell, tellFault } from "@/components/ui/Toasts";
import { api, request, unwrap, type Schemas } from "@/lib/api/client";
import { saveBlob } from "@/lib/download";
import { installedKeys } from "./importing";
import { countsOf, sourceText } from "./words";

export type Toolset = Schemas["toolset"];

export function ToolsetCard({ toolset, onShow }: { toolset: Toolset; onShow(): void }) {
  const whole = useGroupSwitch();
  const [asked, setAsked] = useState(false);
  return (
    <li className="rounded-lg border border-border p-3 text-[13px]">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="min-w-0 flex-1 text-sm font-medium break-words">
          {toolset.name} <span className="font-normal text-muted">{toolset.version}</span>
        </h3>
        <Switch label={`Toolset ${toolset.name}`} checked={toolset.enabled} onChange={(enabled) => whole.mutate({ kind: "toolset", id: toolset.id, enabled })} />
        <IconButton label={`Details of ${toolset.name}`} onClick={onShow}>
          <Info />
        </IconButton>
        <IconButton label={`Export ${toolset.name}`} onClick={() => void save(toolset)}>
          <Download />
        </IconButton>
        <IconButton label={`Uninstall ${toolset.name}`} onClick={() => setAsked(true)}>
          <Trash2 />
        </IconButton>
      </div>
      <p className="mt-1 break-words text-muted">{toolset.description}</p>
      <p className="mt-1 text-muted">
        {countsOf(toolset)} · {sourceText(toolset)} · updated <RelativeTime at={toolset.updated_at} />
      </p>
      {toolset.problem && <Problem text={toolset.problem} />}
      {toolset.revoked_at && <Problem text="Its approval was taken back: it does nothing until it is imported again." />}
      {toolset.pending_approvals ? <p className="mt-1 text-accent-ink">{toolset.pending_approvals} of its items wait for your approval: import it again to see them.</p> : null}
      {asked && <Ask toolset={toolset} onLeave={() => setAsked(false)} />}
    </li>
  );
}

async function save(toolset: Toolset) {
  try {
    saveBlob(await (await request(`/api/toolsets/${encodeURIComponent(toolset.id)}/export`)).blob(), `${toolset.id}-${toolset.version}.zip`);
  } catch (error) {
    tellFault(`${toolset.name} isn't exported`, error);
  }
}

/** Ask asks before a toolset goes, and says what stays. */
function Ask({ toolset, onLeave }: { toolset: Toolset; onLeave(): void }) {
  const client = useQueryClient();
  const uninstall = useMutation({
    mutationFn: async () => unwrap(await api.POST("/api/toolsets/{toolset}/uninstall", { params: { path: { toolset: toolset.id } } })),
    onSuccess: (gone) => {
      const stays = gone.shared_mcp_servers.length > 0 ? `. ${gone.shared_mcp_servers.join(", ")} stays: others bring it too` : "";
      tell(`Uninstalled ${toolset.name}${stays}${gone.in_use ? ". What runs now ends with its files" : ""}`);
    },
    onError: (error) => tellFault(`${toolset.name} stays`, error),
    onSettled: () => Promise.all(installedKeys.map((key) => client.invalidateQueries({ queryKey: [key] }))),
  });
  return (
    <div role="group" aria-label={`Uninstall ${toolset.name}`} className="mt-3 rounded-md border border-bad p-3">
      <p>
        {toolset.name} goes with its {countsOf(toolset)}. Chats, their workspaces and the calls it made stay, and can be looked at; files in workspaces are not touched.
      </p>
      <div className="mt-2 flex gap-2">
        <Button size="small" look="danger" disabled={uninstall.isPending} onClick={() => uninstall.mutate()}>
          Uninstall {toolset.name}
        </Button>
        <Button size="small" autoFocus onClick={onLeave}>
          Keep it
        </Button>
      </div>
    </div>
  );
}
