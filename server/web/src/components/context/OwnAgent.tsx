import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Download, Pencil, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "@/components/ui/Button";
import { SchemaForm } from "@/components/ui/SchemaForm";
import { tell, tellFault } from "@/components/ui/Toasts";
import { api, request, unwrap, type Agent } from "@/lib/api/client";
import { download } from "@/lib/download";

const text = (title: string, description = "") => ({ type: "string", title, description });
const long = (title: string) => ({ ...text(title), maxLength: 65_536 });
const list = (title: string, description: string) => ({ type: "array", title, description, items: { type: "string" } });

const schema = {
  type: "object",
  required: ["prompt"],
  properties: {
    name: text("Name"),
    purpose: long("Purpose"),
    prompt: long("Prompt"),
    model: text("Model", "Empty is the model of the question."),
    tools: list("Tools", "The ids that it is offered, such as read_file."),
    handoffs: list("Hands over to", "The ids of other agents."),
    history: { type: "string", title: "Reads", oneOf: [{ const: "full", title: "The whole chat" }, { const: "turn", title: "This turn alone" }] },
  },
};

/** OwnAgent changes, exports and removes an agent that the user made. */
export function OwnAgent({ agent, onGone }: { agent: Agent; onGone(): void }) {
  const client = useQueryClient();
  const [state, setState] = useState<"" | "edit" | "remove">("");
  const params = { path: { agent: agent.id } };
  const name = agent.name || agent.id;
  const listed = () => client.invalidateQueries({ queryKey: ["agents"] });
  const initial = useMemo(() => ({ ...agent }) as Record<string, unknown>, [agent]);
  const save = useMutation({
    mutationFn: async (value: Record<string, unknown>) => unwrap(await api.PATCH("/api/agents/{agent}", { params, body: { name: "", purpose: "", model: "", history: "", tools: [], handoffs: [], ...value } })),
    onSuccess: async () => {
      await listed();
      tell(`Changed the agent ${name}`);
      onGone();
    },
    onError: (error) => tellFault(`${name} stays as it was`, error),
  });
  const remove = useMutation({
    mutationFn: () => api.DELETE("/api/agents/{agent}", { params }),
    onSuccess: async () => {
      await listed();
      tell(`Removed the agent ${name}`);
      onGone();
    },
    onError: (error) => tellFault(`${name} stays`, error),
  });
  if (state === "edit") {
    return (
      <SchemaForm schema={schema} initial={initial} disabled={save.isPending} onSubmit={(value) => save.mutate(value)}>
        <div className="flex justify-end gap-2">
          <Button onClick={() => setState("")}>Cancel</Button>
          <Button look="accent" type="submit" disabled={save.isPending}>
            Save
          </Button>
        </div>
      </SchemaForm>
    );
  }
  if (state === "remove") {
    return (
      <div role="group" aria-label={`Remove ${name}`} className="rounded-md border border-bad p-3">
        <p>Chats keep what {name} said. One that continues with it has to be asked with another agent.</p>
        <div className="mt-2 flex gap-2">
          <Button size="small" look="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
            Remove {name}
          </Button>
          <Button size="small" autoFocus onClick={() => setState("")}>
            Keep it
          </Button>
        </div>
      </div>
    );
  }
  return (
    <div className="flex flex-wrap gap-2">
      <Button size="small" onClick={() => setState("edit")}>
        <Pencil className="size-4" aria-hidden="true" />
        Edit
      </Button>
      <Button size="small" onClick={() => void exportAgent(agent.id)}>
        <Download className="size-4" aria-hidden="true" />
        Export
      </Button>
      <Button size="small" onClick={() => setState("remove")}>
        <Trash2 className="size-4" aria-hidden="true" />
        Remove…
      </Button>
    </div>
  );
}

async function exportAgent(id: string) {
  try {
    const response = await request(`/api/agents/${encodeURIComponent(id)}/export`);
    download(`${id}.yaml`, await response.text(), "application/yaml");
  } catch (error) {
    tellFault(`${id} isn't exported`, error);
  }
}
