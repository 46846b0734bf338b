package provider

// Native is what a provider needs beside a Request that keeps agents and their
// conversation itself, where its configuration asks for that. One value goes
// through all requests of a turn. Other providers pass it over: the request says
// all of it too, handoffs as tools.
type Native struct {
	// Provider is the name of the one that all agents ask.
	Provider string
	// Agents are those that a turn may come to, the one that it enters by first.
	Agents []NativeAgent
	// Agent is the id of the one that is asked now.
	Agent string
	// System is what the chat says to every agent.
	System string
	// Results are those of the turn's calls so far.
	Results []ToolResult
	// Session is the provider's own, from one request of the turn to the next.
	Session any
}

// NativeAgent is an agent as a provider is told of it.
type NativeAgent struct {
	ID      string
	Name    string
	Purpose string
	Prompt  string
	Model   string // without the provider
	Tools   []ToolSpec
	// Handoffs are the agents that it can hand over to, by the name of the tool
	// that stands for the handoff in answers.
	Handoffs map[string]string
}
