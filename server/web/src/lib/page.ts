import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";

/** usePage is what the server tells its page. */
export function usePage() {
  return useQuery({
    queryKey: ["page"],
    queryFn: async ({ signal }) => unwrap(await api.GET("/api/page", { signal })),
    staleTime: Infinity,
  });
}
