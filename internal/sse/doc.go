// Package sse reads and writes event streams (`text/event-stream`, WHATWG HTML
// §9.2). It knows nothing of what the events mean.
//
// As a reader it accepts everything that the standard allows and a little
// more: LF, CRLF and CR line ends, a byte order mark, comments, unknown
// fields, lines of any length up to a limit, and, where asked, a last event
// whose blank line never came, since model providers send that. As a writer
// it is stricter than the standard asks: LF only, no byte order mark, and
// keep-alive comments without a blank line after them, since clients in use
// break on each of these.
//
// # Vocabulary
//
//   - Event: the fields between two blank lines, with their data joined.
//   - Open event: one whose blank line had not come when the stream ended.
//   - Batch: the events that one network read completed. [Reader.Next] waits
//     for the first of them, [Reader.Buffered] gives the others without
//     waiting.
//
// # Why not a library
//
// The MCP SDK's parser trims data and refuses a line without a colon;
// tmaxmax/go-sse fails past 64 KB by default and drops a last event without a
// blank line; neither tells which events came with one read, which is what
// lets the engine write them to its journal in one go.
//
// # Concurrency
//
// A Reader and a Writer each belong to one goroutine at a time. A Reader
// starts no goroutine: its reads block as long as its source does, so whoever
// owns the source bounds the wait.
package sse
