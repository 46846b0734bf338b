// The types of document 003, in its names: what is kept in localStorage.

export type AgentName = "scavenger" | "synthesizer" | "interface" | (string & {});

export type ThoughtStep =
  | { type: "agent_start"; agent: AgentName }
  | { type: "tool_call"; agent: AgentName; tool: string; query: string }
  | { type: "tool_result"; agent: AgentName; tool: string; result: string }
  | { type: "handoff"; from: AgentName; to: AgentName };

export interface Message {
  id: string;
  role: "user" | "assistant";
  content: string;
  thoughts: ThoughtStep[];
  isStreaming: boolean;
}

export interface Session {
  id: string;
  createdAt: string;
  preview: string;
  messages: Message[];
}
