// Package tool is the command tool: it lists tools, shows and calls them, switches them,
// sets their renderers, and stops services. A call from here needs no model and no chat
// of its own; how its result is shown is used by other commands that call tools, too.
package tool
