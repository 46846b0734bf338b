import { useQuery } from "@tanstack/react-query";
import { request } from "@/lib/api/client";

/** PageInfo is what the server tells its page. */
export interface PageInfo {
  version: string;
  artifact_origin: string;
  demo: boolean;
  model: string;
  agent: string;
  limits: { turn_bytes: number; json_bytes: number; upload_bytes: number; bundle_bytes: number; document_bytes: number };
  suggestions: { title: string; message: string; agent?: string; model?: string }[];
  renderers: string[];
}

export function usePage() {
  return useQuery({
    queryKey: ["page"],
    queryFn: async ({ signal }) => (await (await request("/api/page", { signal })).json()) as PageInfo,
    staleTime: Infinity,
  });
}
