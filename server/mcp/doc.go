// Package mcp is the engine for programs that speak the Model Context Protocol:
// the server's side. What is installed in fettle becomes tools of theirs: the
// tools of toolsets and those that fettle has built in, and agents as tools with
// a message. `fettle mcp` serves one client over standard input and output, and
// `fettle serve` many at /mcp. As the rest of server does, it adds nothing to
// what a turn is: a call is engine.Start with the person's own calls, and what
// the client sees is engine.Follow as progress and one result.
//
// # Vocabulary
//
//   - Host: all that is served to all clients (host.go).
//   - Session: one client's chat, and so its workspace (session.go). Over
//     standard input there is one. Over HTTP a client of the era that has
//     sessions has one for each; one of 2026-07-28, which has none, has one for
//     each name that it goes by and each ?session=NAME of its address.
//   - Era: modern from 2026-07-28 on, legacy before. One address answers both
//     (http.go).
//   - Offer: what one filter by toolsets comes to: the tools, agents and pages
//     (offer.go). Served is an SDK server that offers it (served.go).
//   - Prompt: one of the user's named prompts. Its text alone is used: model, system
//     prompt and tools are the client's. Prompts belong to no toolset, so an address or
//     an option that names toolsets offers none. Changes to the files are looked for
//     while clients are connected, and notified (prompts.go).
//   - Page: the html renderer of a tool, as an MCP App (page.go).
//   - Parked: a turn that waits for an approval which a modern client brings
//     with its next request (approve.go).
//
// # Approvals
//
// Rules decide as in every other turn. A call that has to be asked about is asked
// by elicitation where the client can; elsewhere it is denied, with the rule that
// would allow it. A model's client may well have asked the person already, but it
// says so nowhere. What a running tool asks itself goes on to the client in the same
// way, in the name of who asks (forms.go). The changes of a call that has run (the mode
// changes of the setting approvals) are asked about by a form with their diffs; changes that
// do not fit a form can only be discarded (review.go).
//
// # What is hostile
//
// Names of tools come from bundles and are made such that every provider takes
// them. A toolset's page gets the data of one call and no way to anything else:
// the client shows it in a frame of its own making. Arguments are checked by the
// engine against the tool's schema. A message is bounded, as are sessions, parked
// turns and what is listed and read of a workspace.
//
// # Promises
//
//   - Nothing but messages is written to a client's stream.
//   - Tools are listed in one order, that of their names.
//   - Where a client over standard input goes away, or one over HTTP ends its
//     request, or either cancels, the turn is cancelled. What a legacy client could
//     come back for isn't kept here.
//   - While a call runs that a client wants progress of, it is reported at least every
//     second or two, also where the call itself reports nothing (progress.go). The values
//     only rise.
//   - A failed call has no structured content; one that promised some and gave
//     none is a failed call.
//
// # Concurrency
//
// A Host is safe for concurrent use, and owns all that it starts: Close ends it,
// and waits. A session has one turn at a time; the others wait for it.
package mcp
