import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { tell, tellFault } from "@/components/ui/Toasts";
import { request } from "@/lib/api/client";

// What the server tells of itself.

export interface PageInfo {
  version: string;
  artifact_origin: string;
  demo: boolean;
  model: string;
  agent: string;
}

export interface Setting {
  key: string;
  value?: unknown;
  secret?: boolean;
  origin: string[];
}

export interface MCPServer {
  id: string;
  enabled: boolean;
  own: boolean;
  declared_by: string[];
  transport: string;
  command?: string;
  args?: string[];
  url?: string;
  env: string[];
  tools: { tool_id: string; name: string }[];
  pinned_at?: string;
  waiting: boolean;
  problem?: string;
}

export interface Change {
  kind: string;
  name: string;
  change: string;
  fields?: { field: string; old: string; new: string }[];
}

export interface Looked {
  tools: { tool_id: string; name: string }[];
  changes: Change[];
  waiting: boolean;
}

async function json<T>(path: string, init?: RequestInit): Promise<T> {
  return (await (await request(path, init)).json()) as T;
}

function post(body: unknown): RequestInit {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

export function usePage() {
  return useQuery({ queryKey: ["page"], queryFn: () => json<PageInfo>("/api/page"), staleTime: Infinity });
}

export function useSettings() {
  return useQuery({ queryKey: ["settings"], queryFn: () => json<{ files: string[]; profile?: string; settings: Setting[] }>("/api/settings") });
}

export function useServers() {
  return useQuery({ queryKey: ["servers"], queryFn: async () => (await json<{ servers: MCPServer[] }>("/api/mcp-servers")).servers });
}

const at = (server: string) => `/api/mcp-servers/${encodeURIComponent(server)}`;

export function switchServer(server: string, enabled: boolean): Promise<unknown> {
  return request(at(server) + "/enable", post({ enabled }));
}

/** useLook connects to a server and lists its tools; with approve those are taken as they are now. */
export function useLook() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ server, approve }: { server: string; approve: boolean }) => json<Looked>(at(server) + "/look", post(approve ? { approve } : {})),
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
    mutationFn: (server: string) => request(at(server) + "/remove", post({})),
    onSuccess: (_, server) => tell(`Removed the MCP server ${server}`),
    onError: (error, server) => tellFault(`${server} stays`, error),
    onSettled: () => Promise.all(["servers", "tools"].map((key) => client.invalidateQueries({ queryKey: [key] }))),
  });
}
