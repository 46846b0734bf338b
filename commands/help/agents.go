package help

// agentShapes are the JSON of the commands around agents.
func agentShapes() []shape {
	version := field{"schema_version", "1"}
	return []shape{
		{"fettle agents list -o json", []field{
			version,
			{"agents", "each an agent as below"},
			{"unusable", "those that can't be used: id, problem"},
		}},
		{"fettle agents show -o json", []field{
			version,
			{"id", "toolset:id, or the id in the configuration"},
			{"toolset_id", "the toolset that brings it"},
			{"name, purpose, prompt", "as they are described"},
			{"model", "a model; if it is left out, the question's"},
			{"tools", "globs over the tools that it is offered"},
			{"handoffs", "the agents that it can hand over to"},
			{"history", "full or turn: what it sees of the conversation"},
			{"answers", "whether its words are part of the answer, where that is set"},
			{"source", "the toolset, or the place in the configuration"},
		}},
	}
}
