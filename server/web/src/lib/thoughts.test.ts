import { describe, expect, it } from "vitest";
import { messagesOf } from "./history";
import { turns } from "./testdata/turns";
import { groupThoughts, thoughtLine } from "./thoughts";

describe("the thought process", () => {
  const thoughts = messagesOf(turns.agents.messages.messages).at(-1)?.thoughts ?? [];

  it("has document 003's lines under the agents' names", () => {
    const groups = groupThoughts(thoughts);
    expect(groups.map((g) => g.agent)).toEqual(["interface", "scavenger", "synthesizer", "interface"]);
    expect(groups[1]?.steps.map(thoughtLine)).toEqual([
      "▶ scavenger agent activated",
      '→ calling read_notion_mock("login system")',
      expect.stringMatching(/^← result: \[Notion \| MVP Authentication Specs \|/),
      '→ calling read_slack_mock("login system auth")',
      expect.stringMatching(/^← result: \[Slack \| #engineering \|/),
      "⇒ handing off to synthesizer",
    ]);
  });

  it("leaves calls to their cards where no agents are at work", () => {
    const plain = messagesOf(turns.build.messages.messages).at(-1)?.thoughts ?? [];
    expect(groupThoughts(plain).flatMap((g) => g.steps.map((s) => s.type))).toEqual(["reasoning"]);
  });
});
