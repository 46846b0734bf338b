import { Copy } from "lucide-react";
import { Button } from "@/components/ui/Button";
import { tell, tellFault } from "@/components/ui/Toasts";
import { copy } from "@/lib/copy";
import { dataOf } from "@/lib/workspace/payload";
import { fields, pretty, text, texts, words, type Fields } from "@/lib/workspace/read";
import type { WorkspacePayload } from "@/types/chat";
import { Facts, Listed, Section, View, Words } from "./parts";
import { LongText, Prose } from "./LongText";

// Names that models and toolsets give the same thing.
const aliases: Record<string, string[]> = {
  name: ["name", "agent_name", "id"],
  purpose: ["purpose", "description", "role"],
  prompt: ["prompt", "instructions", "system_prompt"],
};
const known = new Set(["id", "agent_id", ...Object.values(aliases).flat(), "model", "tools", "handoffs", "history", "changes"]);

function pick(agent: Fields, what: string, most?: number): string {
  for (const name of aliases[what] ?? []) {
    const value = text(agent[name], most);
    if (value) return value;
  }
  return "";
}

/** AgentPayloadView is an agent that is proposed: who it is, what it is told, and what it may use. */
export default function AgentPayloadView({ payload }: { payload: WorkspacePayload }) {
  const data = fields(dataOf(payload));
  // A change may come as the fields that change, or as old and new.
  const agent: Fields = { ...data, ...fields(data.agent), ...fields(data.changes) };
  const rest = Object.entries(agent).filter(([name, value]) => !known.has(name) && name !== "agent" && value !== null && value !== "");
  const prompt = pick(agent, "prompt", 200_000);
  return (
    <View>
      {payload.content && <Prose text={payload.content} />}
      <Facts
        facts={[
          { name: "Name", value: pick(agent, "name", 200) },
          { name: "Id", value: <span className="font-mono">{text(agent.id ?? agent.agent_id, 200)}</span> },
          { name: "Purpose", value: pick(agent, "purpose") },
          { name: "Model", value: text(agent.model, 200) },
          { name: "Sees", value: text(agent.history) === "turn" ? "this question alone" : text(agent.history) === "full" ? "the whole chat" : text(agent.history) },
          ...rest.slice(0, 30).map(([name, value]) => ({ name: words(name), value: text(value) || texts(value).join(", ") || pretty(value).slice(0, 2_000) })),
        ].filter((f) => f.name !== "Id" || text(agent.id ?? agent.agent_id) !== "")}
      />
      <Section title="Instructions">
        {prompt ? (
          <div className="rounded-md border border-border bg-surface p-3">
            <LongText text={prompt} mono={false} />
          </div>
        ) : (
          <Words className="text-muted">{payload.type === "agent_update" ? "This doesn't change." : "Nothing of its own."}</Words>
        )}
      </Section>
      <Listed title="Tools it may use" values={texts(agent.tools)} />
      <Listed title="Hands over to" values={texts(agent.handoffs)} />
      <div>
        <Button size="small" onClick={() => copy(pretty(data)).then(() => tell("Copied"), (e) => tellFault("Nothing was copied", e))}>
          <Copy className="size-3.5" aria-hidden="true" />
          Copy as JSON
        </Button>
      </div>
    </View>
  );
}
