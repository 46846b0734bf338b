import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { tellFault } from "@/components/ui/Toasts";
import { useChat } from "@/hooks/useGeneralChat";
import { api, unwrap, type Schemas } from "@/lib/api/client";
import { useUI } from "@/lib/ui";
import { applyEvent } from "@/lib/workspace/workflow";
import type { WorkflowHandlers, WorkflowInstanceState } from "@/lib/workspace/workspaceMode";

export type Workflow = Schemas["Workflow_"];

export function useWorkflows() {
  return useQuery({ queryKey: ["workflows"], staleTime: 30_000, queryFn: async () => unwrap(await api.GET("/api/workflows")).workflows });
}

/** useInstances are the workflows that were started, the last one first. */
export function useInstances(enabled = true) {
  return useQuery({ queryKey: ["workflows", "instances"], enabled, queryFn: async () => unwrap(await api.GET("/api/workflow-instances")).instances });
}

/** useInstance is one, kept up with its turn while that is followed, and else by asking again. */
export function useInstance(id: string | null) {
  const client = useQueryClient();
  const event = useChat((s) => s.turn?.workflow ?? null);
  const key = ["workflows", "instance", id];
  const query = useQuery({
    queryKey: key,
    enabled: id !== null,
    refetchInterval: (q) => (q.state.data?.state === "running" ? 2_000 : false),
    queryFn: async () => unwrap(await api.GET("/api/workflow-instances/{instance}", { params: { path: { instance: id ?? "" } } })),
  });
  const loaded = query.data !== undefined;
  useEffect(() => {
    if (!event || event.instance !== id || !loaded) return;
    const at = ["workflows", "instance", id];
    client.setQueryData<WorkflowInstanceState>(at, (old) => old && applyEvent(old, event));
    // What a step gave is the server's to say once the run rests.
    if (event.state === "waiting" || event.state === "complete" || event.state === "failed") {
      void client.invalidateQueries({ queryKey: at });
      void client.invalidateQueries({ queryKey: ["workflows", "instances"] });
    }
  }, [client, event, id, loaded]);
  return query;
}

/** useFollowTurn shows the chat of a turn that was begun here, and follows it. */
export function useFollowTurn() {
  const chat = useChat((s) => ({ chatId: s.chatId, reload: s.reload }));
  const client = useQueryClient();
  return (turn: { chat_id: string }) => {
    void client.invalidateQueries({ queryKey: ["workflows"] });
    void client.invalidateQueries({ queryKey: ["chat", turn.chat_id] });
    void client.invalidateQueries({ queryKey: ["chats"] });
    if (turn.chat_id !== chat.chatId) useUI.getState().openChat(turn.chat_id);
    // A chat that is read again takes up the turn that runs in it.
    else void chat.reload();
  };
}

export function useStart() {
  const chatId = useChat((s) => s.chatId);
  const follow = useFollowTurn();
  return useMutation({
    mutationFn: async ({ workflow, input }: { workflow: string; input: Record<string, unknown> }) =>
      unwrap(
        await api.POST("/api/workflows/{workflow}/start", {
          params: { path: { workflow } },
          body: { input, confirm: true, reviews: true, ...(chatId ? { chat_id: chatId } : {}) },
        }),
      ),
    onSuccess: ({ instance_id, turn }) => {
      follow(turn);
      useUI.getState().select({ kind: "workflow", instanceId: instance_id });
    },
  });
}

/** useHandlers are what a person can do with an instance. */
export function useHandlers(id: string | null): WorkflowHandlers {
  const client = useQueryClient();
  const follow = useFollowTurn();
  const params = { path: { instance: id ?? "" } };
  const act = useMutation({
    mutationFn: async (action: "continue" | "retry") => unwrap(await api.POST("/api/workflow-instances/{instance}/act", { params, body: { action, confirm: true, reviews: true } })),
    onSuccess: ({ turn }) => {
      client.setQueryData<WorkflowInstanceState>(["workflows", "instance", id], (old) => old && { ...old, state: "running", turn_id: turn.turn_id });
      follow(turn);
    },
    onError: (error) => tellFault("The workflow doesn't go on", error),
  });
  const cancel = useMutation({
    mutationFn: async () => unwrap(await api.POST("/api/workflow-instances/{instance}/cancel", { params })),
    onSuccess: (instance) => {
      client.setQueryData(["workflows", "instance", id], instance);
      void client.invalidateQueries({ queryKey: ["workflows"] });
    },
    onError: (error) => tellFault("The workflow wasn't cancelled", error),
  });
  return { onContinue: () => act.mutate("continue"), onRetry: () => act.mutate("retry"), onCancel: () => cancel.mutate(), busy: act.isPending || cancel.isPending };
}
