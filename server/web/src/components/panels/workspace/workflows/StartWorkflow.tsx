import { ArrowLeft } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/Button";
import { Dialog } from "@/components/ui/Dialog";
import { RelativeTime } from "@/components/ui/RelativeTime";
import { SchemaForm } from "@/components/ui/SchemaForm";
import { Empty, Failed, Skeleton } from "@/components/ui/States";
import { useChat } from "@/hooks/useGeneralChat";
import { useUI } from "@/lib/ui";
import { cut, words } from "@/lib/workspace/read";
import { nameOf, progressOf } from "@/lib/workspace/workflow";
import { Badge } from "../parts";
import { useInstances, useStart, useWorkflows, type Workflow } from "./useWorkflows";

/** StartWorkflow lists the workflows that there are, and asks what one needs. */
export function StartWorkflow({ onClose }: { onClose(): void }) {
  const all = useWorkflows();
  const [chosen, setChosen] = useState<Workflow | null>(null);
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={chosen ? nameOf(chosen) : "Workflows"} about={chosen?.description ? cut(chosen.description, 600) : undefined}>
      {chosen ? (
        <Form workflow={chosen} onBack={() => setChosen(null)} onClose={onClose} />
      ) : all.isPending ? (
        <Skeleton lines={4} />
      ) : all.isError ? (
        <Failed what="The workflows can't be listed" error={all.error} onRetry={() => void all.refetch()} />
      ) : all.data.length === 0 ? (
        <Empty title="There are no workflows" action={<Button onClick={() => (onClose(), useUI.getState().setToolsets(true))}>Import a toolset</Button>}>
          Toolsets bring them.
        </Empty>
      ) : (
        <div className="flex flex-col gap-4">
          <ul className="flex flex-col gap-2">
            {all.data.map((w) => (
              <li key={w.id}>
                <button type="button" onClick={() => setChosen(w)} className="w-full rounded-lg border border-border p-3 text-left hover:bg-raised">
                  <span dir="auto" className="block font-medium break-words">{nameOf(w)}</span>
                  {w.description && <span dir="auto" className="block text-[13px] break-words text-muted">{cut(w.description, 300)}</span>}
                  <span className="block text-[13px] text-muted">
                    {w.steps.length} {w.steps.length === 1 ? "step" : "steps"}, {w.toolset_id}
                  </span>
                </button>
              </li>
            ))}
          </ul>
          <Started onClose={onClose} />
        </div>
      )}
    </Dialog>
  );
}

function Form({ workflow, onBack, onClose }: { workflow: Workflow; onBack(): void; onClose(): void }) {
  const start = useStart();
  return (
    <SchemaForm schema={workflow.input_schema} disabled={start.isPending} onSubmit={(input) => start.mutate({ workflow: workflow.id, input }, { onSuccess: onClose })}>
      {start.isError && <Failed what="It wasn't started" error={start.error} />}
      <div className="flex flex-wrap justify-between gap-2">
        <Button look="quiet" onClick={onBack}>
          <ArrowLeft className="size-4" aria-hidden="true" />
          All workflows
        </Button>
        <Button type="submit" look="accent" disabled={start.isPending}>
          {start.isPending ? "Starting" : "Start"}
        </Button>
      </div>
    </SchemaForm>
  );
}

/** Started are the workflows of this chat, to look at again. */
function Started({ onClose }: { onClose(): void }) {
  const chatId = useChat((s) => s.chatId);
  const own = useInstances(chatId !== null).data?.filter((i) => i.chat_id === chatId) ?? [];
  if (own.length === 0) return null;
  return (
    <section aria-label="Started in this chat">
      <h3 className="mb-2 text-[13px] font-semibold">Started in this chat</h3>
      <ul className="flex flex-col gap-1">
        {own.slice(0, 50).map((i) => {
          const { done, of } = progressOf(i);
          return (
            <li key={i.id}>
              <button
                type="button"
                onClick={() => {
                  useUI.getState().select({ kind: "workflow", instanceId: i.id });
                  onClose();
                }}
                className="flex w-full flex-wrap items-center gap-2 rounded-md px-2 py-1.5 text-left text-[13px] hover:bg-raised"
              >
                <span dir="auto" className="min-w-0 flex-1 truncate">{nameOf(i.workflow)}</span>
                <span className="text-muted tabular-nums">{done} of {of}</span>
                <Badge>{words(i.state)}</Badge>
                <RelativeTime at={i.created_at} className="text-muted" />
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
