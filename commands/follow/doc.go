// Package follow shows a turn on a terminal or in a pipe while it runs, and asks the
// person what it wants to know: whether a call may run, what a form of an MCP server
// is filled in with.
//
// [Turn] takes a turn's events to its end and hands each to a [View]. There are three:
// [Text] for people and pipelines, one object of JSON, and [Events], a line each. A
// [Log] makes a Text that of a chat: it keeps what can be opened later, and shows more
// below a call. What stands still is shown by package show.
//
// A View is used by one goroutine. Standard output carries the answer alone; all else
// goes to standard error, and only where somebody watches or asked for it.
package follow
