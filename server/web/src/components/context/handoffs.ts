import type { Agent } from "@/lib/api/client";

/** bareId is an agent's id without its toolset. */
export function bareId(id: string): string {
  return id.slice(id.lastIndexOf(":") + 1);
}

export interface Family {
  id: string;
  title: string;
  agents: Agent[];
}

/** families puts the agents of one toolset together; those of a person's own come first. */
export function families(agents: Agent[]): Family[] {
  const out = new Map<string, Family>();
  for (const agent of agents) {
    const id = agent.toolset_id ?? "";
    const family = out.get(id) ?? { id, title: id || "Your own", agents: [] };
    family.agents.push(agent);
    out.set(id, family);
  }
  return [...out.values()].sort((a, b) => Number(a.id !== "") - Number(b.id !== ""));
}

export interface Handoff {
  from: number; // places in the list
  to: number;
}

/** handoffsOf are the arrows between agents of one family. Handoffs name agents bare or whole; those to agents that aren't there are left out. */
export function handoffsOf(agents: Agent[]): Handoff[] {
  return agents.flatMap((agent, from) =>
    (agent.handoffs ?? []).flatMap((name) => {
      const to = agents.findIndex((other) => other.id === name || bareId(other.id) === name);
      return to === -1 || to === from ? [] : [{ from, to }];
    }),
  );
}
