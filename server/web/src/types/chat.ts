// The types of document 000, in its names. Fields that fettle adds are marked.
import type { components } from "@/lib/api/schema";

export type InteractionType = "text_input" | "value_selected" | "action_executed";

export interface ActionMetadata {
  action_identifier?: string;
  action_data?: unknown;
  // Added: the program around the chat reported that it carried the action out.
  acknowledged?: boolean;
}

export interface SuggestedValue {
  label: string;
  value: string;
}

export interface SuggestedAction {
  label: string;
  action: string;
  handler?: string; // client or server
  data?: unknown;
  style?: string;
  // Added: fettle's names of action and data.
  type?: string;
  metadata?: unknown;
}

export interface CustomPayload {
  type: string;
  data: unknown;
}

export type WorkspacePayloadType =
  | "draft"
  | "summary"
  | "data"
  | "code"
  | "agent_create"
  | "agent_update"
  | "table"
  | "research"
  | "research_result"
  | "workflow_graph"
  | "review_collection"
  | "review_analysis"
  | "entity_verification"
  | (string & {}); // a toolset's own

export interface WorkspacePayload {
  type: WorkspacePayloadType;
  title: string;
  content: string;
  data?: unknown;
  agent_data?: unknown;
  table_data?: unknown;
  research_data?: unknown;
  // Added: how it is shown, where a toolset defines its type.
  render_plan?: unknown;
}

/** ToldOfCall is what both the events and a chat's messages tell of a call. */
export type ToldOfCall = Partial<
  Pick<components["schemas"]["CallView"], "error" | "duration_ms" | "render_plan" | "renderer" | "payload_id" | "pre_manifest_id" | "post_manifest_id" | "changes" | "changed" | "undone">
>;

/** ToolCall is an entry of tool_history, with what fettle knows of the call. */
export interface ToolCall extends ToldOfCall {
  tool_name: string;
  input: Record<string, unknown>;
  output: string;
  workspace_payload?: WorkspacePayload;
  payload?: unknown;
  // Added:
  tool_id?: string;
  call_id?: string;
  tool_use_id?: string;
  status?: "pending" | "running" | "success" | "error";
  /** the last calls that the page of this one made, and how many there were in all */
  apps?: ToolCall[];
  app_calls?: number;
}

export interface ToolProgressEvent {
  type: "tool_progress";
  tool: string;
  stage: string;
  message: string;
  progress?: number;
  data?: unknown;
}

export interface ActiveToolProgress {
  toolName: string;
  updates: ToolProgressEvent[];
  // Added: calls of one step run side by side.
  toolUseId: string;
}

export type Usage = components["schemas"]["Usage"];
export type Conversation = components["schemas"]["Chat"];

export interface GeneralChatMessage {
  role: "user" | "assistant";
  content: string;
  timestamp: string;
  suggested_values?: SuggestedValue[];
  suggested_actions?: SuggestedAction[];
  custom_payload?: CustomPayload;
  workspace_payload?: WorkspacePayload;
  // Added:
  id: string;
  turn_id?: string;
  thoughts: ThoughtStep[];
  tool_history: ToolCall[];
  attachments: Attachment[];
  footnotes: string[];
  payloads: ShownPayload[];
  status: "complete" | "interrupted" | "cancelled" | "error";
  error?: string;
  model?: string;
  usage?: Usage;
  siblings?: components["schemas"]["siblings"];
  /** the server doesn't have it yet */
  pending?: boolean;
  fault?: ChatFault;
}

/** ChatFault is why there is no answer, or no whole one. */
export interface ChatFault {
  message: string;
  code: string;
  retryable: boolean;
  hints: string[];
}

export interface Attachment {
  name: string;
  mime: string;
  size?: number;
  doc?: string;
  /** an image's content as a data: or blob: address, where the page has it */
  preview?: string;
}

/** ShownPayload is a payload of document 001 as it stands in the stream. */
export interface ShownPayload {
  payload_id: string;
  type: string;
  data: unknown;
  title?: string;
  source: string;
  toolset_id?: string;
  render_plan?: unknown;
}

/** ThoughtStep has document 003's forms; reasoning and agents' words are added. */
export type ThoughtStep =
  | { type: "agent_start"; agent: string }
  | { type: "tool_call"; agent: string; tool: string; query: string; tool_use_id: string }
  | { type: "tool_result"; agent: string; tool: string; result: string; tool_use_id: string; failed?: boolean }
  | { type: "handoff"; from: string; to: string; reason?: string }
  | { type: "reasoning"; agent: string; text: string };

/** ApprovalArgument is an argument as a person has to see it: blanks counted, hidden characters written out. */
export interface ApprovalArgument {
  name: string;
  text: string;
  /** of the value as it was sent, such as "3.4 KB, 120 lines" */
  size: string;
}

/** Approval is a call that waits for a person. */
export interface Approval {
  turn_id: string;
  tool_use_id: string;
  tool: string;
  tool_id: string;
  input: Record<string, unknown>;
  /** comes with the nonce */
  arguments?: ApprovalArgument[];
  reason: string;
  /** what the call can read, change and connect to, in words that follow "may" */
  reach?: string;
  rule?: string;
  /** the rule as a person has to see it */
  rule_text?: string;
  /** what an answer is sent with: whoever has it has seen the call */
  nonce?: string;
  expires_at?: string;
  /** an MCP server's question; without it the call itself waits */
  form?: ApprovalForm;
  /** the changes of a call that has run, which wait to be applied */
  review?: ApprovalReview;
}

/** ApprovalReview lists the changes that a call has made, removals first. */
export interface ApprovalReview {
  files: ReviewedFile[];
  /** how many are not listed */
  more?: number;
  /** changes that no answer applies, since the same was changed meanwhile */
  conflicts?: { path: string; kind: string; reason?: string }[];
  output?: string;
}

export interface ReviewedFile {
  path: string;
  kind: "added" | "modified" | "removed";
  /** files of one group are applied together or not at all */
  group?: string;
  diff?: string;
  note?: string;
  added?: number;
  removed?: number;
}

/** ApprovalForm is what an MCP server asks while one of its calls runs. */
export interface ApprovalForm {
  kind: "form" | "url" | "sampling";
  server: string;
  call?: string;
  message?: string;
  fields?: FormField[];
  url?: string;
  sampling?: { model?: string; system?: string; messages?: { role: string; text: string }[]; max_tokens?: number };
}

export interface FormField {
  name: string;
  type: "string" | "integer" | "number" | "boolean" | "choice" | "choices";
  title?: string;
  description?: string;
  required?: boolean;
  default?: unknown;
  format?: string;
  min_length?: number;
  max_length?: number;
  minimum?: number;
  maximum?: number;
  options?: { value: string; title?: string }[];
  min_items?: number;
  max_items?: number;
}
