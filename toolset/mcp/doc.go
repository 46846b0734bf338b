// Package mcp is fettle as a client of MCP servers: it starts or reaches them, lists what
// they have, calls their tools, reads their resources and prompts, and signs in where they
// require it. It supports the revisions from 2024-11-05 to 2026-07-28, over the streams of a
// process, streamable HTTP and the older SSE.
//
// It keeps no records and decides nothing: which servers there are, which of
// their tools were approved and who may call them comes from outside. No type
// of the SDK leaves it.
//
// # Vocabulary
//
//   - Server: how one is reached, as a value. Key: a hash of that, by which
//     what is learnt of a server is kept.
//   - Manager: owns all connections of the program.
//   - Connection: started when it is first needed, and shared by calls. A
//     process sees one workspace alone, so two chats with different folders have
//     a process each; a server at an address has one connection.
//   - Pinned: a tool as the user approved it. A tool that is new, or that is not the same
//     by [toolset.SamePin], is held back until the user approves it. What fettle announces
//     of itself is the same for each connection of a server, since servers list their tools
//     by it.
//   - App: the page that a server has for the calls of a tool (MCP Apps). It may call
//     those tools of its server that are for apps, with what was pinned of them.
//   - Era: the generation of the protocol that a server supports. The modern one has
//     server/discover, the legacy one initialize. It is probed once and remembered.
//
// # What a server may do to us
//
// Everything that it sends is untrusted. Messages, lists, results, lines that are no
// messages, rates and times are bounded; texts lose their control characters; schemas are
// compiled under the limits of internal/schema and never fetched; its annotations are passed
// on as what it claims. A server that breaks a bound is ended, and the error that the model
// gets names it. It costs others nothing: each connection has its own process, client and
// bounds. Byte order marks and texts that are not messages are skipped and logged; a note
// takes the place of a part of a result that cannot be decoded.
//
// # HTTP
//
// A call that a server refuses because it has lost the session is retried once in a new
// session. A server that refuses POST requests with 400, 404 or 405 is tried with the older
// HTTP+SSE transport.
//
// # Interpreters
//
// A shim of pyenv, asdf, mise or volta is resolved to the program that it starts, whose tree
// can be read in the sandbox. Symbolic links on the way to a program are included, too.
//
// # What a server may ask
//
// For roots: a process gets its workspace, a server at an address nothing. For input of the
// user (elicitation): that goes to the [toolset.Asker] of the call that runs, else to
// [Options.Ask], and the answer is cancel where no user can be asked. For a model's answer
// (sampling): only where [Server.Sampling] lets it, within a call, by the same Asker.
//
// # Concurrency
//
// A [Manager] is safe for concurrent use. It owns every goroutine and process;
// [Manager.Close] ends and awaits them within a bound. Processes end with the
// program however it ends, since a [toolset.Launcher] sees to that.
package mcp
