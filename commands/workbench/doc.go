// Package workbench is what all commands work with. A [Runtime] belongs to one run
// of the program and makes what a command asks for when it is first asked: the
// configuration, the keys, the engine with its providers, tools and MCP servers, a
// running server that turns go through. So help, version and completion open
// nothing.
//
// It also has how a command speaks beside its result: notices and hints on
// standard error, JSON on standard output, faults, the line that tells how far
// something is ([Work]), the question whether it is sure. It is no place for what
// a single command does, and reads no flags but --profile.
//
// # Vocabulary
//
// A fault is an error for a person (package fault). A turn's engine is this
// process's own, or lent by the chat that a command runs in; a server's process
// holds the store for as long as it runs. The toolbox runs tools in processes.
//
// # Concurrency
//
// A Runtime is its command's alone, and its fields are set before what uses them
// is made; [Runtime.Notice] and a Work may be called by any goroutine.
// [Runtime.Finish] ends whatever was begun, within bounds, and is called once.
package workbench
