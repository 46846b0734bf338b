import { useState } from "react";
import { Button } from "@/components/ui/Button";
import { Dialog } from "@/components/ui/Dialog";
import { Failed, Skeleton } from "@/components/ui/States";
import { Switch } from "@/components/ui/Switch";
import { Words } from "@/components/ui/Words";
import { useGroupSwitch } from "./queries";
import { useLook, useRemoveServer, useServers, type Change, type MCPServer } from "./server";
import { Problem } from "./ToolGroupList";

/** ServerList has the MCP servers: their state, a switch, and what they changed. */
export function ServerList() {
  const servers = useServers();
  const [changes, setChanges] = useState<{ server: string; changes: Change[]; approve: string } | null>(null);
  const look = useLook();
  if (servers.isPending) return <Skeleton lines={3} className="px-0" />;
  if (servers.isError) return <Failed error={servers.error} what="The MCP servers can't be listed" onRetry={() => void servers.refetch()} />;
  if (servers.data.length === 0) return <p className="text-muted"><Words>None. A toolset can bring one, and `fettle mcp add` adds one of your own.</Words></p>;

  async function lookAt(server: string) {
    const looked = await look.mutateAsync({ server }).catch(() => null); // told already
    if (looked?.approve) setChanges({ server, changes: looked.changes, approve: looked.approve });
  }

  return (
    <>
      <ul className="flex flex-col gap-2">
        {servers.data.map((server) => (
          <Server key={server.id} server={server} looking={look.isPending && look.variables.server === server.id} onLook={() => void lookAt(server.id)} />
        ))}
      </ul>
      <Dialog
        open={changes !== null}
        onOpenChange={(open) => !open && setChanges(null)}
        title={`What ${changes?.server ?? ""} changed`}
        about="Its tools stay as you approved them until you take these."
        wide
        footer={
          <>
            <Button onClick={() => setChanges(null)}>Leave it</Button>
            <Button
              look="accent"
              onClick={() => {
                if (changes) look.mutate({ server: changes.server, approve: changes.approve });
                setChanges(null);
              }}
            >
              Take the changes
            </Button>
          </>
        }
      >
        <ul className="flex flex-col gap-3 text-[13px]">
          {changes?.changes.map((change) => (
            <li key={change.kind + change.name}>
              <p>
                {change.kind} <span className="font-mono">{change.name}</span> {change.change}
              </p>
              {change.fields?.map((field) => (
                <div key={field.field} className="mt-1 border-l-2 border-border pl-3">
                  <p className="text-muted">{field.field}</p>
                  {field.old && <pre className="bg-removed px-2 py-1 font-mono break-words whitespace-pre-wrap">{field.old}</pre>}
                  {field.new && <pre className="bg-added px-2 py-1 font-mono break-words whitespace-pre-wrap">{field.new}</pre>}
                </div>
              ))}
            </li>
          ))}
        </ul>
      </Dialog>
    </>
  );
}

function Server({ server, looking, onLook }: { server: MCPServer; looking: boolean; onLook(): void }) {
  const whole = useGroupSwitch();
  const remove = useRemoveServer();
  const [sure, setSure] = useState(false);
  const address = server.url ?? [server.command, ...(server.args ?? [])].join(" ");
  return (
    <li className="rounded-lg border border-border p-3">
      <div className="flex items-center gap-2">
        <h4 className="min-w-0 flex-1 truncate font-medium">{server.id}</h4>
        <Switch label={`MCP server ${server.id}`} checked={server.enabled} onChange={(enabled) => whole.mutate({ kind: "mcp_server", id: server.id, enabled })} />
      </div>
      <p className="mt-1 font-mono break-all text-muted">{address}</p>
      <p className="text-muted">
        {server.own ? "Added by you" : `From ${server.declared_by.join(", ")}`} · {toolsText(server)}
      </p>
      {server.problem && <Problem text={server.problem} />}
      {server.waiting && <p className="mt-1 text-accent-ink">Its tools are others by now, and wait for you.</p>}
      <div className="mt-2 flex flex-wrap gap-2">
        <Button size="small" disabled={looking} onClick={onLook}>
          {looking ? "Connecting…" : server.waiting ? "See the changes" : "Look again"}
        </Button>
        {server.own &&
          (sure ? (
            <>
              <Button size="small" look="danger" onClick={() => remove.mutate(server.id)}>
                Remove {server.id}
              </Button>
              <Button size="small" look="quiet" onClick={() => setSure(false)}>
                Keep it
              </Button>
            </>
          ) : (
            <Button size="small" look="quiet" onClick={() => setSure(true)}>
              Remove…
            </Button>
          ))}
      </div>
    </li>
  );
}

function toolsText(server: MCPServer): string {
  if (!server.pinned_at && server.tools.length === 0) return "not looked at yet";
  return server.tools.length === 1 ? "1 tool" : `${server.tools.length} tools`;
}
