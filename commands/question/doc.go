// Package question is what the commands ask and chat have in common: the options that
// each turn is asked with, read from flags into [Options] and made into the engine's
// request; the resources of MCP servers that a message names as @SERVER:URI; and the
// prompts of MCP servers. It starts no turn and prints nothing.
package question
