import type { Schemas } from "@/lib/api/client";

type Toolset = Schemas["toolset"];

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** countsOf says what a toolset brings. */
export function countsOf(toolset: Pick<Toolset, "tool_count" | "mcp_server_count" | "agent_count" | "workflows">): string {
  const parts = [count(toolset.tool_count, "tool", "tools")];
  if (toolset.agent_count > 0) parts.push(count(toolset.agent_count, "agent", "agents"));
  if (toolset.mcp_server_count > 0) parts.push(count(toolset.mcp_server_count, "MCP server", "MCP servers"));
  const workflows = toolset.workflows?.length ?? 0;
  if (workflows > 0) parts.push(count(workflows, "workflow", "workflows"));
  return parts.join(", ");
}

/** sourceText says where a toolset came from. Earlier versions of fettle kept no name of an upload. */
export function sourceText({ source_type, source_ref }: Pick<Toolset, "source_type" | "source_ref">): string {
  if (source_type === "program") return "comes with fettle";
  if (/[\\/]uploads[\\/]upload-[^\\/]*$/.test(source_ref)) return `imported as ${source_type === "zip" ? "ZIP" : source_type}`;
  if (source_ref.startsWith("upload:")) return `uploaded as ${source_ref.slice("upload:".length)}`;
  return source_ref ? `from ${source_ref}` : `imported as ${source_type}`;
}
