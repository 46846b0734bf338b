package commandtest

// DocumentFrames are the frames of the first turn of the table in section 8 of document 003.
func DocumentFrames() []string {
	return []string{
		`agent_start { agent: "interface" }`, // "Agent is thinking..."
		`handoff { from: "interface", to: "scavenger" }`,
		`agent_start { agent: "scavenger" }`,
		`tool_call { agent: "scavenger", tool: "read_notion_mock", query: "login system" }`,
		`tool_call { agent: "scavenger", tool: "read_slack_mock", query: "login system auth" }`,
		`handoff { from: "scavenger", to: "synthesizer" }`, // "Synthesizing conflicts..."
		`agent_start { agent: "synthesizer" }`,
		`handoff { from: "synthesizer", to: "interface" }`,
		`agent_start { agent: "interface" }`,
		`token`, // × N
		`done`,
	}
}
