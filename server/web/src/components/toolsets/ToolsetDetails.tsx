import { useQuery } from "@tanstack/react-query";
import { Marks, RendererIcon } from "@/components/context/marks";
import { Facts, Json, Part } from "@/components/context/ToolSheet";
import { firstLine } from "@/components/context/filter";
import { useAgents } from "@/components/context/queries";
import { useServers } from "@/components/context/server";
import { Dialog } from "@/components/ui/Dialog";
import { Failed, Skeleton } from "@/components/ui/States";
import { api, unwrap } from "@/lib/api/client";
import { countsOf, sourceText } from "./words";

/** ToolsetDetails is all of a toolset: where it is from, what it may, its tools. */
export function ToolsetDetails({ id, onClose }: { id: string; onClose(): void }) {
  const detail = useQuery({
    queryKey: ["toolsets", id],
    queryFn: async () => unwrap(await api.GET("/api/toolsets/{toolset}", { params: { path: { toolset: id } } })),
  });
  const toolset = detail.data?.toolset;
  const servers = useServers().data?.filter((s) => s.declared_by.includes(id)) ?? [];
  const agents = useAgents().data?.filter((a) => a.toolset_id === id) ?? [];
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={toolset ? `${toolset.name} ${toolset.version}` : id} about={toolset?.description} wide>
      {detail.isPending && <Skeleton lines={8} />}
      {detail.isError && <Failed error={detail.error} what="Its details can't be read" onRetry={() => void detail.refetch()} />}
      {toolset && (
        <div className="flex flex-col gap-4 text-[13px]">
          <Facts
            facts={[
              ["Id", <code key="id" className="font-mono">{toolset.id}</code>],
              ["Brings", countsOf(toolset)],
              ["Source", sourceText(toolset)],
              ["Contents", <code key="hash" className="font-mono break-all">sha256 {toolset.hash}</code>],
              ["Installed", new Date(toolset.installed_at).toLocaleString()],
              ["Updated", new Date(toolset.updated_at).toLocaleString()],
              ["Manifest", `version ${toolset.manifest_version}`],
              ["Isolation", toolset.uncontained ? "None: its tools run with your rights" : ""],
              ["Problem", toolset.problem],
            ]}
          />
          <Part title="Permissions">
            <Facts
              facts={[
                ["Network", toolset.permissions?.network?.join(", ") || "none"],
                ["Environment", toolset.permissions?.env?.join(", ") || (servers.some((s) => s.env.length > 0) ? "none for its tools" : "none")],
                ["Reads", toolset.permissions?.read?.join(", ") || "the workspace only"],
                ["Packages", toolset.requirements?.join(", ") || "none"],
              ]}
            />
          </Part>
          <Part title="Tools">
            <ul className="flex flex-col gap-2">
              {detail.data?.tools.map((tool) => (
                <li key={tool.tool_id} className="border-l-2 border-border pl-3">
                  <p className="flex flex-wrap items-center gap-2">
                    {tool.name} <code className="font-mono text-muted">{tool.tool_id}</code>
                    <RendererIcon type={tool.renderer?.type} />
                    <Marks tool={tool} />
                    {!tool.enabled && <span className="text-muted">off</span>}
                  </p>
                  <p className="break-words text-muted">{firstLine(tool.description)}</p>
                  {tool.problem && <p className="text-bad">{tool.problem}</p>}
                </li>
              ))}
            </ul>
          </Part>
          {agents.length > 0 && (
            <Part title="Agents">
              <ul className="flex flex-col gap-2">
                {agents.map((agent) => (
                  <li key={agent.id} className="border-l-2 border-border pl-3">
                    <p>
                      {agent.name || agent.id} <code className="font-mono text-muted">{agent.id}</code>
                    </p>
                    <p className="break-words text-muted">{firstLine(agent.purpose)}</p>
                  </li>
                ))}
              </ul>
            </Part>
          )}
          {servers.length > 0 && (
            <Part title="MCP servers">
              <ul className="flex flex-col gap-2">
                {servers.map((server) => (
                  <li key={server.id} className="border-l-2 border-border pl-3">
                    <p>{server.id}</p>
                    <p className="font-mono break-all text-muted">{server.url ?? [server.command, ...(server.args ?? [])].join(" ")}</p>
                    {server.env.length > 0 && <p className="text-muted">It gets {server.env.join(", ")}.</p>}
                  </li>
                ))}
              </ul>
            </Part>
          )}
          {toolset.workflows && toolset.workflows.length > 0 && (
            <Part title="Workflows">
              <ul className="flex flex-col gap-2">
                {toolset.workflows.map((workflow) => (
                  <li key={workflow.id} className="border-l-2 border-border pl-3">
                    <p>{workflow.name || workflow.id}</p>
                    {workflow.description && <p className="break-words text-muted">{workflow.description}</p>}
                    <p className="text-muted">{workflow.steps.map((s) => s.name || s.id).join(" → ")}</p>
                  </li>
                ))}
              </ul>
            </Part>
          )}
          {toolset.tests && toolset.tests.length > 0 && <Json title={`${toolset.tests.length} tests, which \`fettle toolset test ${toolset.id}\` runs`} value={toolset.tests} />}
        </div>
      )}
    </Dialog>
  );
}
