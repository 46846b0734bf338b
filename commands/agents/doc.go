// Package agents has the command agents: which agents there are, and what one of them
// is given. Agents come with toolsets and from the configuration; nothing here changes
// them.
package agents
