// Package acp is the command acp: the agent of an editor, over standard input and output.
// It puts the server of package server/acp over the engine of the configuration, and
// gives it the named prompts as slash commands. The log is on standard error.
package acp
