import { useQuery } from "@tanstack/react-query";
import { request } from "@/lib/api/client";
import { fields, records } from "@/lib/workspace/read";
import type { PayloadType } from "./types";

/** usePayloadTypes are the types that the server knows, by their names. Without them the documents' looks stay. */
export function usePayloadTypes(): Map<string, PayloadType> | undefined {
  return useQuery({
    queryKey: ["payload-types"],
    staleTime: 60_000,
    retry: false,
    queryFn: async () => {
      const answer: unknown = await (await request("/api/payload-types")).json();
      return records(fields(answer).types).flatMap((t) => (typeof t.type === "string" ? [t as unknown as PayloadType] : []));
    },
    select: byName,
  }).data;
}

// A toolset's definition stands before the one that is always known.
function byName(types: PayloadType[]): Map<string, PayloadType> {
  const all = new Map<string, PayloadType>();
  for (const type of types) {
    if (!all.has(type.type)) all.set(type.type, type);
  }
  return all;
}
