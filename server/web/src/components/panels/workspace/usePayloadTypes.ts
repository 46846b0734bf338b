import { useQuery } from "@tanstack/react-query";
import { request } from "@/lib/api/client";
import { fields, list, records, text } from "@/lib/workspace/read";
import type { PayloadType } from "./types";

/** ClientPage is a page that a toolset describes: its payload types, and what its program can do. */
export interface ClientPage {
  id: string;
  name: string;
  toolset: string;
  payloads: string[];
  actions: string[];
}

interface Served {
  types: PayloadType[];
  pages: ClientPage[];
}

function useServed<T>(select: (served: Served) => T): T | undefined {
  return useQuery({
    queryKey: ["payload-types"],
    staleTime: 60_000,
    retry: false,
    queryFn: async (): Promise<Served> => {
      const answer = fields(await (await request("/api/payload-types")).json());
      return {
        types: records(answer.types).flatMap((t) => (typeof t.type === "string" ? [t as unknown as PayloadType] : [])),
        pages: records(answer.pages).map((p) => ({
          id: text(p.id, 200), name: text(p.name, 200) || text(p.id, 200), toolset: text(p.toolset_id, 200),
          payloads: list(p.payloads).map((v) => text(v, 200)), actions: records(p.client_actions).map((a) => text(a.action, 200)),
        })),
      };
    },
    select,
  }).data;
}

/** usePayloadTypes are the types that the server knows, by their names. Without them the documents' looks stay. */
export function usePayloadTypes(): Map<string, PayloadType> | undefined {
  return useServed(byName);
}

/** useClientPages are the pages that toolsets describe, each once. */
export function useClientPages(): ClientPage[] {
  return useServed(pagesOf) ?? none;
}

/** usePageTabs are the tabs for which the payload types of a page are offered. */
export function usePageTabs(page: string): string[] {
  const served = useServed(whole);
  const offered = new Set(served?.pages.filter((p) => p.id === page).flatMap((p) => p.payloads));
  return [...new Set(served?.types.filter((t) => offered.has(t.type)).flatMap((t) => t.relevant_tabs ?? []))];
}

const none: ClientPage[] = [];

function whole(served: Served): Served {
  return served;
}

function pagesOf({ pages }: Served): ClientPage[] {
  const all = new Map<string, ClientPage>();
  for (const page of pages) {
    const known = all.get(page.id);
    all.set(page.id, known ? { ...known, payloads: [...known.payloads, ...page.payloads], actions: [...known.actions, ...page.actions] } : page);
  }
  return [...all.values()];
}

// A toolset's definition comes ahead of the one that is always known.
function byName({ types }: Served): Map<string, PayloadType> {
  const all = new Map<string, PayloadType>();
  for (const type of types) {
    if (!all.has(type.type)) all.set(type.type, type);
  }
  return all;
}
