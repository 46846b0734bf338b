import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { tell, tellFault } from "@/components/ui/Toasts";
import { api, unwrap, type Schemas } from "@/lib/api/client";

// What the server tells of itself.

export type Setting = Schemas["Setting"];
export type MCPServer = Schemas["server"];
export type Change = Schemas["looked"]["changes"][number];

export function useSettings() {
  return useQuery({ queryKey: ["settings"], queryFn: async () => unwrap(await api.GET("/api/settings")) });
}

export function useServers() {
  return useQuery({ queryKey: ["servers"], queryFn: async () => unwrap(await api.GET("/api/mcp-servers")).servers });
}

export function switchServer(server: string, enabled: boolean): Promise<unknown> {
  return api.POST("/api/mcp-servers/{server}/enable", { params: { path: { server } }, body: { enabled } });
}

/** useLook connects to a server and lists its tools; with the approve of an answer, those that it showed are taken. */
export function useLook() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ server, approve }: { server: string; approve?: string }) =>
      unwrap(await api.POST("/api/mcp-servers/{server}/look", { params: { path: { server } }, body: approve ? { approve } : {} })),
    onSuccess: (looked, { server }) => {
      if (!looked.waiting) tell(`${server} has ${looked.tools.length === 1 ? "1 tool" : `${looked.tools.length} tools`}`);
    },
    onError: (error, { server }) => tellFault(`${server} doesn't answer`, error),
    onSettled: () => Promise.all(["servers", "tools"].map((key) => client.invalidateQueries({ queryKey: [key] }))),
  });
}

export function useRemoveServer() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (server: string) => api.POST("/api/mcp-servers/{server}/remove", { params: { path: { server } } }),
    onSuccess: (_, server) => tell(`Removed the MCP server ${server}`),
    onError: (error, server) => tellFault(`${server} stays`, error),
    onSettled: () => Promise.all(["servers", "tools"].map((key) => client.invalidateQueries({ queryKey: [key] }))),
  });
}
