import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useFollowTurn } from "@/components/panels/workspace/workflows/useWorkflows";
import { tellFault } from "@/components/ui/Toasts";
import { useChat } from "@/hooks/useGeneralChat";
import { api, unwrap, type Schemas } from "@/lib/api/client";
import { useUI } from "@/lib/ui";
import type { CallRef } from "./callApi";

export type Service = Schemas["service"];
export type ServiceArtifact = Schemas["artifact"] & { service: Service };

// How often a page that is shown asks whether its service still runs.
const look = 5_000;

// What a service's page may have; never more, whatever is asked for.
const allowed = new Set(["allow-scripts", "allow-same-origin", "allow-forms", "allow-modals", "allow-downloads"]);

/**
 * frameOf is what goes into the frame of a service. On this page's own origin its
 * scripts would reach all of it, so there is none then.
 */
export function frameOf(shown: { url?: string; sandbox?: string }, own = location.origin): { address: string; rights: string } | null {
  if (!shown.url || !URL.canParse(shown.url)) return null;
  const address = new URL(shown.url);
  if (!/^https?:$/.test(address.protocol) || address.origin === own) return null;
  const rights = (shown.sandbox ?? "allow-scripts").split(" ").filter((right) => allowed.has(right));
  return { address: address.href, rights: rights.join(" ") };
}

/** useService is the state of a call's service, and what a person can do with it. */
export function useService(call: CallRef, first: Service) {
  const client = useQueryClient();
  const follow = useFollowTurn();
  const key = ["service", call.id];
  const params = { path: { call: call.id } };
  const query = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => unwrap(await api.GET("/api/tool-calls/{call}/service", { params, signal })),
    initialData: first,
    staleTime: look,
    gcTime: 0,
    refetchInterval: (q) => (q.state.data?.state === "running" ? look : false),
  });
  const stop = useMutation({
    mutationFn: async () => unwrap(await api.DELETE("/api/tool-calls/{call}/service", { params })),
    onSuccess: (now) => client.setQueryData(key, now),
    onError: (error) => tellFault("The service wasn't stopped", error),
  });
  const [turn, setTurn] = useState("");
  useShowOfTurn(turn, call);
  const again = useMutation({
    mutationFn: async () => unwrap(await api.POST("/api/tool-calls/{call}/service", { params, body: { confirm: true } })),
    onSuccess: (begun) => {
      setTurn(begun.turn_id);
      follow(begun);
    },
    onError: (error) => tellFault("The service wasn't started again", error),
  });
  return { state: query.data, stop, again };
}

/** useShowOfTurn shows the same tool's call of a turn in the place of an older one, once it is there. */
function useShowOfTurn(turn: string, old: CallRef) {
  const made = useChat((s) => (turn ? s.messages.find((m) => m.turn_id === turn && m.role === "assistant")?.tool_history.find((t) => t.tool_id === old.tool_id)?.call_id : undefined));
  useEffect(() => {
    const { selection, select } = useUI.getState();
    if (made && selection?.kind === "call" && selection.callId === old.id) select({ kind: "call", callId: made });
  }, [made, old.id]);
}
