import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Agent, ListedTool } from "@/lib/api/client";
import { AgentGraph } from "./AgentGraph";
import { byteText } from "./bytes";
import { documentName } from "./documentName";
import { filterGroups, firstLine, groupState, groupTitle, originText } from "./filter";
import { families, handoffsOf } from "./handoffs";
import { inputsOf } from "./inputs";
import { marksOf } from "./marks";
import type { ToolGroup } from "./queries";
import { ToolSheet } from "./ToolSheet";
import agentData from "./testdata/agents.json";
import toolData from "./testdata/tools.json";

const groups = toolData.groups as unknown as ToolGroup[];
const agents = agentData.agents as unknown as Agent[];

function tool(id: string) {
  const found = groups.flatMap((g) => g.tools).find((t) => t.tool_id === id);
  if (!found) throw new Error("no tool " + id);
  return found;
}

test("a search keeps the tools that have all its words, and no group without any", () => {
  const found = filterGroups(groups, "  WEB page ");
  expect(found.flatMap((g) => g.tools.map((t) => t.tool_id))).toContain("web_fetch");
  expect(found.flatMap((g) => g.tools.map((t) => t.tool_id))).not.toContain("read_file");
  expect(found.every((g) => g.tools.length > 0)).toBe(true);
  expect(filterGroups(groups, "")).toBe(groups);
  expect(filterGroups(groups, "no such tool at all")).toEqual([]);
  // The group's own name finds all of its tools.
  expect(filterGroups(groups, "chaoscontext").flatMap((g) => g.tools)).toHaveLength(2);
});

test("groups are called as document 004 says, and count what is on", () => {
  const builtin = groups[0] as ToolGroup;
  expect(groupTitle(builtin)).toEqual({ title: "Built in", kind: "" });
  expect(groupTitle({ kind: "mcp_server", id: "github", name: "github" }).kind).toBe("MCP server");
  const on = builtin.tools.filter((t) => t.enabled).length;
  expect(on).toBeGreaterThan(0);
  expect(groupState(builtin)).toEqual({ checked: true, on });
  expect(groupState({ ...builtin, kind: "toolset", enabled: false })).toEqual({ checked: false, on: 0 });
});

test("the origin of a tool is its toolset or its MCP server", () => {
  const group = (kind: string, id: string, tool_id: string) => ({ kind, id, name: id, enabled: true, tools: [{ tool_id }] }) as unknown as ToolGroup;
  const all = [group("toolset", "reviews", "reviews:analyze"), group("mcp_server", "everything", "everything:echo")];
  expect(originText(all, { tool_id: "reviews:analyze", toolset_id: "reviews" })).toBe("toolset reviews");
  expect(originText(all, { tool_id: "everything:echo", toolset_id: "everything" })).toBe("MCP server everything");
  expect(originText(all, { tool_id: "read_file" })).toBe("built in");
});

test("marks say what a tool may do", () => {
  expect(marksOf(tool("read_file"))).toEqual([]);
  expect(marksOf(tool("run_command")).map((m) => m.id)).toEqual(["confirm", "shell"]);
  expect(marksOf(tool("web_fetch")).map((m) => m.id)).toEqual(["confirm", "web"]);
  expect(marksOf(tool("write_file")).map((m) => m.id)).toEqual(["writes"]);
  expect(marksOf(tool("chaoscontext:read_slack_mock"))).toEqual([]);
});

test("marks follow what a tool reaches, and not its annotations", () => {
  const unknown = { ...tool("write_file"), annotations: { read_only: false, destructive: true, idempotent: false, open_world: true } };
  const contained = { contained: true, writes: true, destructive: true, text: "read and write the chat's workspace only" };
  const texts = (reach: ListedTool["reach"]) => marksOf({ ...unknown, reach }).map((m) => m.text);
  expect(texts(contained)).toEqual(["May change the chat’s workspace"]);
  expect(texts({ ...contained, network: "hosts", hosts: ["a.example", "b.example"] })).toEqual(["May change the chat’s workspace", "Connects to a.example, b.example"]);
  expect(texts({ ...contained, contained: false, network: "all" })).toEqual(["May change or remove things", "Connects to other systems"]);
  expect(texts({ ...contained, contained: false, writes: false, destructive: false })).toEqual([]);
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(["tools"], groups);
  render(
    <QueryClientProvider client={client}>
      <ToolSheet tool={{ ...unknown, reach: contained }} onClose={() => undefined} />
    </QueryClientProvider>,
  );
  expect(screen.getByText("May read and write the chat's workspace only.")).toBeTruthy();
});

test("inputs are read from a schema, and from none", () => {
  const inputs = inputsOf(tool("read_file").input_schema);
  expect(inputs.map((i) => [i.name, i.type, i.required])).toEqual([
    ["path", "string", true],
    ["offset", "integer", false],
    ["limit", "integer", false],
  ]);
  expect(inputsOf(null)).toEqual([]);
  expect(inputsOf({ properties: "hostile" })).toEqual([]);
  expect(inputsOf({ properties: { a: { enum: ["x", 1] }, b: { type: "array", items: { type: "string" } }, c: true } }).map((i) => i.type)).toEqual(['"x" | 1', "list of string", "anything"]);
});

test("handoffs are arrows between the agents of a family", () => {
  const [chaos] = families(agents);
  expect(chaos?.id).toBe("chaoscontext");
  const list = chaos?.agents ?? [];
  expect(handoffsOf(list)).toEqual([
    { from: 0, to: 1 },
    { from: 1, to: 2 },
    { from: 2, to: 0 },
  ]);
  render(<AgentGraph agents={list} chosen="" />);
  expect(screen.getByRole("img").getAttribute("aria-label")).toBe("Handoffs: Interface to Scavenger, Scavenger to Synthesizer, Synthesizer to Interface");
});

test("own agents come before those of toolsets", () => {
  const own = { id: "reviewer", prompt: "", purpose: "" } as Agent;
  expect(families([...agents, own]).map((f) => f.title)[0]).toBe("Your own");
});

test("sizes, names and lines are for people", () => {
  expect([0, 1, 999, 1000, 9_960, 999_499, 999_500, 1_500_000].map(byteText)).toEqual(["0 bytes", "1 byte", "999 bytes", "1.0 kB", "10 kB", "999 kB", "1.0 MB", "1.5 MB"]);
  expect(documentName(" my \"notes\" on\tx.md ")).toBe("my-notes-on-x.md");
  expect(firstLine("one\ntwo")).toBe("one");
});
