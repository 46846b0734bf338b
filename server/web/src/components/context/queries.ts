import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { tellFault } from "@/components/ui/Toasts";
import { api, unwrap, type Schemas } from "@/lib/api/client";
import { switchServer } from "./server";

export type ToolGroup = Schemas["ToolGroup"];
export type Document = Schemas["Document"];

export function useTools() {
  return useQuery({ queryKey: ["tools"], queryFn: async () => unwrap(await api.GET("/api/tools")).groups });
}

export function useAgents() {
  // Others keep the whole answer under this key.
  return useQuery({ queryKey: ["agents"], queryFn: async () => unwrap(await api.GET("/api/agents")), select: (answer) => answer.agents });
}

export function useModels() {
  return useQuery({ queryKey: ["models"], queryFn: async () => unwrap(await api.GET("/api/models")), staleTime: 60_000 });
}

export function useDocuments(deleted: boolean, enabled = true) {
  return useQuery({
    queryKey: ["documents", { deleted }],
    queryFn: async () => unwrap(await api.GET("/api/documents", { params: { query: { deleted } } })).documents,
    enabled,
  });
}

/** useToolSwitch turns a tool on or off. The list shows it at once, and what holds when the server has answered. */
export function useToolSwitch() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (to: { tools: string[]; enabled: boolean }) => {
      for (const tool of to.tools) {
        await api.POST("/api/tools/{tool}/enable", { params: { path: { tool } }, body: { enabled: to.enabled } });
      }
    },
    onMutate: async ({ tools, enabled }) => {
      await client.cancelQueries({ queryKey: ["tools"] });
      client.setQueryData<ToolGroup[]>(["tools"], (groups) =>
        groups?.map((g) => ({ ...g, tools: g.tools.map((t) => (tools.includes(t.tool_id) ? { ...t, enabled } : t)) })),
      );
    },
    onError: (error) => tellFault("The tool stays as it was", error),
    onSettled: () => Promise.all([client.invalidateQueries({ queryKey: ["tools"] }), client.invalidateQueries({ queryKey: ["toolsets"] })]),
  });
}

/** useGroupSwitch turns a toolset or an MCP server on or off, with all its tools. */
export function useGroupSwitch() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (to: { kind: string; id: string; enabled: boolean }) => {
      const body = { enabled: to.enabled };
      if (to.kind === "mcp_server") await switchServer(to.id, to.enabled);
      else await api.POST("/api/toolsets/{toolset}/enable", { params: { path: { toolset: to.id } }, body });
    },
    onMutate: async ({ id, enabled }) => {
      await client.cancelQueries({ queryKey: ["tools"] });
      client.setQueryData<ToolGroup[]>(["tools"], (groups) => groups?.map((g) => (g.id === id ? { ...g, enabled } : g)));
    },
    onError: (error, to) => tellFault(`${to.id} stays as it was`, error),
    onSettled: () =>
      Promise.all(["tools", "toolsets", "agents", "workflows", "servers"].map((key) => client.invalidateQueries({ queryKey: [key] }))),
  });
}
