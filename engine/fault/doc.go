// Package fault holds the one error type that people see and the two tables
// that fix what a kind of failure means to a shell and to an HTTP client.
//
// Rooms below the engine return plain errors, sentinels or typed errors; the
// engine turns what reaches a person into a [Fault]. A Fault names the thing
// that went wrong, may carry lines of detail, and ends in remedies: next steps
// without a shell command, a flag or a route, which the terminal, the page, HTTP,
// ACP and MCP each write in their own terms. Nothing here imports anything else of fettle.
package fault
