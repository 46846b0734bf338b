// Package payloads knows the structured data that tools and models show
// beside their text: document 001's payloads and document 000's workspace
// payloads, as one registry.
//
// It is what a turn asks: what may be offered on a page, what the model is told
// of it, what of a response is text and what a payload, and which payload a
// turn's answer has in the end. It runs no tool, draws nothing and keeps no
// records; a renderer is a value that passes through.
//
// # Vocabulary
//
//   - Type: the name of a kind of payload, such as schema_proposal. The types
//     of the documents are built in ([Builtin]).
//   - Config: document 001's PayloadConfig of one type.
//   - Marker: what a model writes before a payload's JSON, such as
//     SCHEMA_PROPOSAL:.
//   - Set: what one toolset, or the user's configuration, brings.
//   - Page, tab: where in a client the person is, as a request's context says.
//   - Offer: what a page and tab get: payloads, client actions, context.
//   - Found: a payload that a model wrote. Note: why something stayed text.
//
// # Who wins
//
// A type that several sets define is, for a tool or page of one of them, its
// own; for everybody else the built-in one, or that of the first set in the
// order of the sets' names. So no toolset changes what another's payloads mean.
// What a definition leaves out (marker and instructions, schema, options, style)
// it takes from the built-in type of the same name. The types of suggestions and
// tool_history can't be defined anew. A page that several sets define is all of them together. Of two
// offered payloads with one marker or one type the first is offered. [New] and
// [Registry.Offer] report each such case.
//
// A payload that a page of its set lists is offered on such pages only; one
// that no page lists, everywhere. Tabs narrow that down where the request names
// a tab.
//
// # What the parser takes for a payload
//
// A marker, then JSON that is an object or an array, with or without a code
// block around the JSON or around both; the marker may be in bold. It may stand
// anywhere in a line, but not within a word, nor directly behind a backtick.
// What follows the JSON is text again. A marker without an object or array
// behind it is a word like any other.
//
// Within a code block a marker is text, so that a model can explain one, with
// one exception: where the block begins with the marker and ends with the
// JSON, the block is the payload's wrapping, since that is how models quote
// what they were told to write. Inline code that begins with the marker is text.
//
// JSON that is broken, cut off, too large, too deep or not of its schema is
// given back as the text that it was, with a note for the person. It is given
// back at the first byte that can't be JSON, so nothing is held back in vain.
// A later marker in the same response is found all the same.
//
// Where a payload was taken out, the white space around it becomes the larger
// of both sides: at most one empty line, a line break, a space, or nothing at
// the text's ends and before punctuation. All other text is given byte for byte.
//
// # Promises
//
// What a parser gives depends on the bytes alone, not on how they were cut.
// Text is held back while it may be the begin of a marker or of a code block
// around one, and white space at the end while a payload may follow it; never
// more than a few hundred bytes, and payloads up to [ParserOptions].MaxBytes.
// No text item ends within a character. Work is linear in the text.
//
// Suggested values and actions may stand beside a payload's type, in a tool's
// data, or be payloads themselves; the last source counts.
//
// Everything from a model, a tool or a client is hostile: sizes and depths are
// bounded, notes hold no control characters, and values that fill a context
// template can become neither a marker nor a part of the template.
//
// A Registry and an Offer are immutable and safe for concurrent use. A Parser
// and a Collector belong to one goroutine.
package payloads
