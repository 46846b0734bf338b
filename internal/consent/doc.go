// Package consent writes what a user must see before a tool call is allowed. The
// texts come from a model, a toolset or a server and may be hostile: they may push a
// command off the screen with blanks, hide it in characters that have no shape, or
// turn its direction.
//
// [Text] and [Line] write such a text so that all of it is seen: a run of blanks or of
// invisible characters becomes its count, as [120 blanks]; a run of blank lines becomes
// [12 blank lines]; control and direction characters become their pictures (␛) or codes
// (‹U+202E›). Nothing is dropped without a trace. [Read] splits the arguments of a call,
// and [Call.Summary] returns the short form of them, with the sizes of what it leaves
// out. A front end whose summary has Cut set must show [Call.Arguments] before it
// accepts an approval.
//
// The package doesn't escape for a format such as HTML or Markdown. All functions are
// pure and take time in proportion to their input.
package consent
