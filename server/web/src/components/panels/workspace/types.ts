import type { LucideIcon } from "lucide-react";
import type { RenderOptions } from "@/lib/payloadHandlers";
import { lookOf } from "@/lib/workspace/ownView";
import { cut, own, words } from "@/lib/workspace/read";
import type { WorkspacePayload } from "@/types/chat";
import { iconOf } from "./icons";

/** PayloadTypeConfig is how a type of payload looks (document 000). */
export interface PayloadTypeConfig {
  icon: LucideIcon;
  color: string;
  bg: string;
  border: string;
  label: string;
  editable: boolean;
  /** a toolset's own colour, where it is none of the page's */
  tint?: string;
  /** a person is asked to accept or reject what is of this type */
  decided?: boolean;
}

// Whole class names: a style sheet is made of those that stand in the source.
const tones = {
  blue: { color: "text-tone-blue", bg: "bg-tone-blue/10", border: "border-tone-blue/30" },
  green: { color: "text-tone-green", bg: "bg-tone-green/10", border: "border-tone-green/30" },
  purple: { color: "text-tone-purple", bg: "bg-tone-purple/10", border: "border-tone-purple/30" },
  indigo: { color: "text-tone-indigo", bg: "bg-tone-indigo/10", border: "border-tone-indigo/30" },
  orange: { color: "text-tone-orange", bg: "bg-tone-orange/10", border: "border-tone-orange/30" },
  yellow: { color: "text-tone-yellow", bg: "bg-tone-yellow/10", border: "border-tone-yellow/30" },
  gray: { color: "text-tone-gray", bg: "bg-tone-gray/10", border: "border-tone-gray/30" },
};
type Tone = keyof typeof tones;

function config(icon: string, tone: Tone, label: string, more: { editable?: boolean; decided?: boolean } = {}): PayloadTypeConfig {
  return { icon: iconOf(icon), ...tones[tone], label, editable: more.editable ?? false, decided: more.decided };
}

/** payloadTypeConfig has every type of documents 000 and 001. */
export const payloadTypeConfig: Record<string, PayloadTypeConfig> = {
  draft: config("file-text", "blue", "Draft", { editable: true }),
  summary: config("list", "green", "Summary", { editable: true }),
  data: config("database", "purple", "Data"),
  code: config("code", "gray", "Code", { editable: true }),
  agent_create: config("user-plus", "indigo", "New agent", { decided: true }),
  agent_update: config("user", "indigo", "Changed agent", { decided: true }),
  table: config("table", "blue", "Table"),
  research: config("search", "purple", "Research", { decided: true }),
  research_result: config("book-open", "purple", "Research result"),
  workflow_graph: config("git-branch", "orange", "Workflow"),
  review_collection: config("message-square", "yellow", "Reviews"),
  review_analysis: config("star", "yellow", "Review analysis"),
  entity_verification: config("check-circle", "green", "Verification"),
  tool_history: config("wrench", "gray", "Tool calls"),
  pubmed_article: config("book-open", "blue", "PubMed article"),
  pubmed_search_results: config("search", "blue", "PubMed search"),
  schema_proposal: config("edit", "blue", "Proposed changes", { decided: true }),
  validation_results: config("check-circle", "green", "Validation"),
  presentation_categories: config("folder", "orange", "Categories", { decided: true }),
  stream_template: config("layers", "indigo", "Stream", { decided: true }),
  stream_suggestions: config("plus-circle", "indigo", "Suggested streams"),
  portfolio_insights: config("bar-chart", "purple", "Portfolio"),
  quick_setup: config("zap", "green", "Quick setup", { decided: true }),
  suggested_values: config("message-circle", "gray", "Suggested answers"),
  suggested_actions: config("play", "gray", "Suggested actions"),
};

/** PayloadType is a type as the server knows it: a toolset may bring it, or change its look. */
export interface PayloadType {
  type: string;
  toolset_id?: string;
  renderer?: { type?: string } | string;
  render_options?: RenderOptions;
  style?: { icon?: string; color?: string; colour?: string; label?: string; editable?: boolean };
  relevant_tabs?: string[];
  on_accept?: unknown;
  on_reject?: unknown;
}

const hex = /^#[0-9a-f]{6}$/i;

/** configOf is how a type looks here: as its toolset says, else as the documents do, else as data. */
export function configOf(type: string, served?: PayloadType): PayloadTypeConfig {
  const known = own(payloadTypeConfig, type);
  const base = known ?? { ...config("", "gray", words(type)) };
  const style = served?.style;
  if (!style && !served) return base;
  const colour = style?.color ?? style?.colour ?? "";
  return {
    ...base,
    ...(style?.icon ? { icon: iconOf(style.icon) } : {}),
    ...own(tones, colour),
    ...(hex.test(colour) ? { tint: colour } : {}),
    ...(style?.label ? { label: cut(style.label, 80) } : {}),
    editable: style?.editable ?? base.editable,
    decided: Boolean(served?.on_accept || served?.on_reject) || base.decided,
  };
}

/** servedFor is what the server knows of a payload's type, with the look that the payload came with. */
export function servedFor(payload: WorkspacePayload, types: Map<string, PayloadType> | undefined): PayloadType | undefined {
  const served = types?.get(payload.type);
  const look = lookOf(payload.render_plan);
  if (!look) return served;
  const { headerTitle, headerIcon, panelWidth } = look;
  return { ...served, type: payload.type, style: look, render_options: { headerTitle, headerIcon, panelWidth } };
}
