// Package serve has the commands by which programs speak to fettle: serve over HTTP and
// mcp serve for MCP clients. Each puts a server of the module's own (packages server and
// server/mcp) over the engine of the configuration, keeps standard output for what the
// program reads, and writes the log to standard error. The command acp does so for
// editors, with the log and the defaults of turns from here: what a turn gets that the
// request doesn't say is the same in all three, and the same as for ask.
package serve
