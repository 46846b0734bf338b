import { Bot, Check } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/Button";
import { Dialog } from "@/components/ui/Dialog";
import { Empty, Failed, Skeleton } from "@/components/ui/States";
import type { Agent } from "@/lib/api/client";
import { useChoices } from "@/lib/chat/choices";
import { cn } from "@/lib/cn";
import { AgentGraph } from "./AgentGraph";
import { bareId, families } from "./handoffs";
import { OwnAgent } from "./OwnAgent";
import { useAgents } from "./queries";
import { Facts, Json } from "./ToolSheet";

/** AgentsTab lists the agents, and chooses the one that the next question goes to. */
export function AgentsTab() {
  const agents = useAgents();
  const { agent: chosen, choose } = useChoices();
  const [shown, setShown] = useState<Agent | null>(null);

  if (agents.isPending) return <Skeleton lines={9} />;
  if (agents.isError) return <Failed error={agents.error} what="The agents can't be listed" onRetry={() => void agents.refetch()} />;
  if (agents.data.length === 0) {
    return (
      <Empty icon={<Bot />} title="No agents">
        A toolset can bring agents: a prompt, some tools, and whom each hands over to.
      </Empty>
    );
  }
  return (
    <div className="scroll-y h-full p-3">
      <p className="mb-3 text-[13px] text-muted">
        {chosen && chosen !== "none" ? (
          <>
            The next question goes to <span className="text-ink">{bareId(chosen)}</span>.{" "}
            <button type="button" className="text-accent-ink underline" onClick={() => choose({ agent: "" })}>
              As it was
            </button>
          </>
        ) : (
          "The next question goes to the chat’s own agent, or to the model itself. Choose an agent to ask it."
        )}
      </p>
      {families(agents.data).map((family) => (
        <section key={family.id} aria-label={family.title} className="mb-5">
          <h3 className="mb-2 text-[13px] font-semibold">{family.title}</h3>
          <AgentGraph agents={family.agents} chosen={chosen} />
          <ul className="mt-2 flex flex-col gap-2">
            {family.agents.map((agent) => (
              <Card key={agent.id} agent={agent} chosen={agent.id === chosen} onChoose={() => choose({ agent: agent.id === chosen ? "" : agent.id })} onShow={() => setShown(agent)} />
            ))}
          </ul>
        </section>
      ))}
      <Dialog open={shown !== null} onOpenChange={(open) => !open && setShown(null)} title={shown?.name ?? shown?.id ?? ""} about={shown?.purpose} wide>
        {shown && <Details agent={shown} onGone={() => setShown(null)} />}
      </Dialog>
    </div>
  );
}

function Card({ agent, chosen, onChoose, onShow }: { agent: Agent; chosen: boolean; onChoose(): void; onShow(): void }) {
  const name = agent.name || bareId(agent.id);
  return (
    <li className={cn("rounded-lg border p-3 text-[13px]", chosen ? "border-accent" : "border-border")}>
      <div className="flex items-center gap-2">
        <h4 className="min-w-0 flex-1 truncate font-medium">{name}</h4>
        <Button size="small" look="quiet" onClick={onShow} aria-label={`Details of ${name}`}>
          Details
        </Button>
        <Button size="small" look={chosen ? "accent" : "plain"} aria-pressed={chosen} onClick={onChoose} aria-label={`${chosen ? "Asked next" : "Ask next"}: ${name}`}>
          {chosen && <Check className="size-3.5" aria-hidden="true" />}
          {chosen ? "Asked next" : "Ask next"}
        </Button>
      </div>
      <p className="mt-1 break-words text-muted">{agent.purpose}</p>
      {agent.tools && agent.tools.length > 0 && (
        <p className="mt-1.5 break-words text-muted">
          Tools: <span className="font-mono">{agent.tools.join(", ")}</span>
        </p>
      )}
    </li>
  );
}

const histories: Record<string, string> = { full: "The whole chat", turn: "This turn alone", none: "Nothing before the question" };

function Details({ agent, onGone }: { agent: Agent; onGone(): void }) {
  return (
    <div className="flex flex-col gap-4 text-[13px]">
      <Facts
        facts={[
          ["Id", <code key="id" className="font-mono">{agent.id}</code>],
          ["From", agent.source],
          ["Model", agent.model],
          ["Reads", histories[agent.history ?? ""] ?? agent.history],
          ["Tools", agent.tools?.join(", ")],
          ["Hands over to", agent.handoffs?.join(", ")],
          ["Answers", agent.answers === true ? "Its words are the answer" : ""],
        ]}
      />
      <Json title="Prompt" value={agent.prompt} />
      {agent.source === "yours" && <OwnAgent agent={agent} onGone={onGone} />}
    </div>
  );
}
