import { expect, test } from "vitest";
import { consentOf, isBundle, mediaType, problemOf, type ImportPlan } from "./consent";
import data from "./testdata/my-toolset.json";
import { countsOf, sourceText } from "./words";

const plan = data as unknown as ImportPlan;

test("what reaches out comes first, in a person's words", () => {
  const [danger, tools] = consentOf(plan);
  expect(danger?.danger).toBe(true);
  expect(danger?.lines.map((l) => [l.verb, l.what, l.note])).toEqual([
    ["starts", "npx -y my-mcp-package", "an MCP server: a program on this machine, with the network"],
    ["reads env", "MY_API_KEY", "not set yet"],
  ]);
  expect(tools?.danger).toBe(false);
  expect(tools?.lines.map((l) => l.what)).toEqual(["Analyze Data", "Transform File"]);
});

test("a tool’s line says what the tool may reach", () => {
  const fields = [
    { name: "description", value: "Works." },
    { name: "requires_confirmation", value: "true" },
    { name: "reach", value: "read the chat's workspace only" },
  ];
  const [group] = consentOf({ ...plan, items: [{ kind: "tool", name: "x", fields }] });
  expect(group?.lines.map((l) => l.note)).toEqual(["asks before each call · may read the chat's workspace only · Works."]);
});

test("nothing that a bundle brings is left out, even a kind that is new", () => {
  const items = [...plan.items, { kind: "kernel_module", name: "x" }, { kind: "workflow", name: "w" }, { kind: "server", name: "far", fields: [{ name: "url", value: "https://example.com/mcp" }] }];
  const groups = consentOf({ ...plan, items });
  expect(groups.flatMap((g) => g.lines)).toHaveLength(items.length);
  expect(groups.find((g) => g.lines.some((l) => l.what === "x"))?.danger).toBe(true);
  expect(groups[0]?.lines.map((l) => l.what)).toContain("https://example.com/mcp");
});

test("the validator's lines are read by place", () => {
  expect(problemOf('toolset.yaml:4:10: error: version: expected a semantic version in quotes, such as "1.0.0", found "1"')).toEqual({
    place: "toolset.yaml:4:10",
    level: "error",
    text: 'version: expected a semantic version in quotes, such as "1.0.0", found "1"',
  });
  expect(problemOf(plan.warnings?.[0] ?? "").place).toBe("toolset.yaml:52");
  expect(problemOf("reason: format")).toEqual({ place: "", level: "", text: "reason: format" });
});

test("bundles are known by their names", () => {
  expect(["a.zip", "a.TAR.GZ", "a.tgz", "a.tar", "a.gz", "zip"].map(isBundle)).toEqual([true, true, true, false, false, false]);
  expect(mediaType("x.ZIP")).toBe("application/zip");
  expect(mediaType("x.tgz")).toBe("application/gzip");
});

test("counts and sources say what helps", () => {
  expect(countsOf({ tool_count: 1, mcp_server_count: 2, agent_count: 0 })).toBe("1 tool, 2 MCP servers");
  expect(countsOf({ tool_count: 2, mcp_server_count: 0, agent_count: 3 })).toBe("2 tools, 3 agents");
  expect(sourceText({ source_type: "zip", source_ref: "/home/x/cache/uploads/upload-35559.zip" })).toBe("imported as ZIP");
  expect(sourceText({ source_type: "program", source_ref: "fettle demo" })).toBe("comes with fettle");
  expect(sourceText({ source_type: "git", source_ref: "https://example.com/x.git" })).toBe("from https://example.com/x.git");
});
