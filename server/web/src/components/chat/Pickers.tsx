import { useQuery } from "@tanstack/react-query";
import { SlidersHorizontal } from "lucide-react";
import { use, useState } from "react";
import { api, unwrap } from "@/lib/api/client";
import { useChoices } from "@/lib/chat/choices";
import { cn } from "@/lib/cn";
import { usePage } from "@/lib/page";
import { useClientPages, usePageTabs } from "@/components/panels/workspace/usePayloadTypes";
import { Tooltip } from "@/components/ui/Tooltip";
import { useChat } from "@/hooks/useGeneralChat";
import { PayloadPageContext } from "@/lib/payloadHandlers";
import { ChatMode } from "./ChatMode";
import { ChatTools } from "./ChatTools";
import { ModelParams, paramsText } from "./ModelParams";

const look = "h-8 max-w-40 min-w-0 truncate rounded-md bg-transparent px-1 text-[13px] text-muted hover:bg-raised hover:text-ink";

/** Pickers choose who answers: the model, its parameters, and the agent. */
export function Pickers() {
  const [wanted, setWanted] = useState(false); // asking providers takes time, so it waits for somebody who looks
  const { model, agent, params, choose } = useChoices();
  const [opened, setOpened] = useState(false);
  const chat = useChat((s) => s.chat);
  const page = usePage().data;
  const models = useQuery({ queryKey: ["models"], queryFn: async () => unwrap(await api.GET("/api/models")), enabled: wanted, staleTime: 60_000 });
  const agents = useQuery({ queryKey: ["agents"], queryFn: async () => unwrap(await api.GET("/api/agents")), staleTime: 60_000 });
  const known = models.data?.models ?? [];
  const usual = short(chat?.model || page?.model || "");
  const usualAgent = chat?.agent || page?.agent || "";
  return (
    <div className="flex min-w-0 items-center gap-1" onPointerEnter={() => setWanted(true)} onFocus={() => setWanted(true)}>
      <select aria-label="Model" className={look} value={model} onChange={(e) => choose({ model: e.target.value })}>
        <option value="">{usual || "Model"}</option>
        {model && !known.some((m) => m.model === model) && <option value={model}>{short(model)}</option>}
        {known.map((m) => (
          <option key={m.model} value={m.model}>
            {m.name || m.model}
          </option>
        ))}
        {models.isError && <option disabled>The models can't be listed</option>}
      </select>
      {(agents.data?.agents.length ?? 0) > 0 && (
        <select aria-label="Agent" className={look} value={agent} onChange={(e) => choose({ agent: e.target.value })}>
          <option value="">{nameOf(agents.data?.agents, usualAgent) || "Agent"}</option>
          <option value="none">No agent</option>
          {agents.data?.agents.map((a) => (
            <option key={a.id} value={a.id}>
              {a.name || a.id}
            </option>
          ))}
        </select>
      )}
      <PagePicker />
      <ChatMode />
      <ChatTools />
      <Tooltip text={paramsText(params) || "Reasoning effort, temperature and length of answers"}>
        <button type="button" aria-label="Model parameters" onClick={() => setOpened(true)} className={cn("flex h-8 min-w-8 shrink-0 items-center justify-center gap-1 rounded-md px-1 text-[13px] hover:bg-raised", paramsText(params) ? "text-accent-ink" : "text-muted")}>
          <SlidersHorizontal className="size-4" aria-hidden="true" />
          {params.effort && <span className="max-sm:sr-only">{params.effort}</span>}
        </button>
      </Tooltip>
      {opened && <ModelParams efforts={known.find((m) => m.model === (model || chat?.model || page?.model))?.efforts} params={params} onChange={(params) => choose({ params })} onClose={() => setOpened(false)} />}
    </div>
  );
}

/** PagePicker chooses the page and the tab whose context, payload types and actions the next questions have. */
function PagePicker() {
  const context = useChat((s) => s.context);
  const updateContext = useChat((s) => ({ set: s.updateContext })).set;
  const pages = useClientPages();
  const page = typeof context.page === "string" ? context.page : "";
  const tab = typeof context.tab === "string" ? context.tab : "";
  const tabs = usePageTabs(page);
  const { handlers } = use(PayloadPageContext);
  if (handlers || (pages.length === 0 && !page)) return null; // the page around <fettle-chat> is its own
  return (
    <>
      <select aria-label="Page" className={look} value={page} onChange={(e) => updateContext({ page: e.target.value || undefined, tab: undefined })}>
        <option value="">No page</option>
        {page && !pages.some((p) => p.id === page) && <option value={page}>{page}</option>}
        {pages.map((p) => (
          <option key={p.id} value={p.id}>
            {p.name}
          </option>
        ))}
      </select>
      {tabs.length > 0 && (
        <select aria-label="Tab" className={look} value={tab} onChange={(e) => updateContext({ tab: e.target.value || undefined })}>
          <option value="">All tabs</option>
          {tabs.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      )}
    </>
  );
}

function nameOf(agents: { id: string; name?: string }[] | undefined, id: string): string {
  return agents?.find((a) => a.id === id)?.name ?? id;
}

/** short is a model's name without what a line has no room for. */
function short(model: string): string {
  return model.startsWith("script/") ? (model.split("/").at(-1) ?? model) : model;
}
