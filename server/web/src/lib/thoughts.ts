// Document 003's thought process: its lines, and its groups by agent.
import type { ThoughtStep } from "@/types/chat";

interface ThoughtGroup {
  agent: string; // "" where no agents are at work
  steps: ThoughtStep[];
}

function agentOf(step: ThoughtStep): string {
  return step.type === "handoff" ? step.from : step.agent;
}

/** groupThoughts puts steps under the agent that took them. Without agents only reasoning is left: the calls have their cards. */
export function groupThoughts(thoughts: ThoughtStep[]): ThoughtGroup[] {
  const groups: ThoughtGroup[] = [];
  for (const step of thoughts) {
    const agent = agentOf(step);
    if (!agent && step.type !== "reasoning") continue;
    const last = groups.at(-1);
    if (last?.agent === agent) last.steps.push(step);
    else groups.push({ agent, steps: [step] });
  }
  return groups;
}

/** thoughtLine is a step in document 003's words. */
export function thoughtLine(step: ThoughtStep): string {
  switch (step.type) {
    case "agent_start":
      return `▶ ${step.agent} agent activated`;
    case "tool_call":
      return `→ calling ${step.tool}(${step.query ? `"${step.query}"` : ""})`;
    case "tool_result":
      return `← result: ${step.result.slice(0, 600)}`;
    case "handoff":
      return `⇒ handing off to ${step.to}`;
    case "reasoning":
      return step.text.trim();
  }
}
