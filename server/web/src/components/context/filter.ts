import type { ToolGroup } from "./queries";

/** filterGroups keeps the tools that have every word of a search in their name, id, description, category or group. */
export function filterGroups(groups: ToolGroup[], search: string): ToolGroup[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return groups;
  return groups
    .map((group) => ({
      ...group,
      tools: group.tools.filter((tool) => {
        const text = [tool.name, tool.tool_id, tool.description, tool.category, group.name].join("\n").toLowerCase();
        return words.every((word) => text.includes(word));
      }),
    }))
    .filter((group) => group.tools.length > 0);
}

/** groupTitle is what a group is called: 004's Builtin | toolset name | MCP server. */
export function groupTitle(group: Pick<ToolGroup, "kind" | "name" | "id">): { title: string; kind: string } {
  if (group.kind === "builtin") return { title: "Built in", kind: "" };
  if (group.kind === "mcp_server") return { title: group.name, kind: "MCP server" };
  return { title: group.name, kind: "toolset" };
}

/** originText says in words which group a tool is of. */
export function originText(groups: ToolGroup[], tool: { tool_id: string; toolset_id?: string }): string {
  const group = groups.find((g) => g.tools.some((t) => t.tool_id === tool.tool_id));
  if (group?.kind === "mcp_server") return `MCP server ${group.id}`;
  return tool.toolset_id ? `toolset ${tool.toolset_id}` : "built in";
}

/** groupState is what a group's switch shows; a builtin group has none of its own. */
export function groupState(group: ToolGroup): { checked: boolean; on: number } {
  const on = group.tools.filter((tool) => tool.enabled).length;
  return { checked: group.kind === "builtin" ? on > 0 : group.enabled, on: group.enabled ? on : 0 };
}

/** firstLine is a description's first line: what a row has room for. */
export function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
