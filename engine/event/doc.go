// Package event defines what a turn is seen as: one ordered stream of events.
//
// Everything that a person or a program sees of a turn is a rendering of this
// stream; the journal on disk, the terminal, `--output events` and the
// server's wire dialects all read it. The canonical JSON is document 000's
// discriminated union (`{"type": …}`), extended by documents 001 to 004.
//
// # Vocabulary
//
//   - Event: a body with its header (turn_id, seq, time).
//   - Body: one of the types in bodies.go; its Type is the JSON `type`.
//   - Form: what a running call asks a person itself, in a confirm_request (form.go).
//   - Seq: an event's place in its turn, from 1, without gaps.
//
// Exactly one of [Complete], [Error] and [Cancelled] ends a turn, and nothing
// follows it. Readers ignore types and fields that they don't know: an unknown
// type decodes to [Unknown], which keeps its JSON and encodes unchanged.
//
// Events are values and are never changed once they have been appended to a
// journal; they may be shared between goroutines.
//
// Encoding is written by hand for the header and for text deltas, since a
// long answer is a hundred thousand of them: encoding/json took seven
// times as long for such an event (BenchmarkAppend).
package event
