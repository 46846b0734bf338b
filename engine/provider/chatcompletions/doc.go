// Package chatcompletions is chat completions, the wire format of OpenAI's that most servers
// have, for the adapters that differ in details. It is a client only. An adapter (openai,
// mistral) sets a Dialect, and is a Provider with what it has in addition.
//
// It reads tolerantly, since no two servers stream alike; testdata/streams at the project's
// root holds recorded streams, each with its source and the deltas that it must yield. It
// writes narrowly: only fields that the request needs, content as a plain string unless
// there are images, and strict mode only for a schema that obeys its rules.
//
// # Vocabulary
//
//   - Dialect: what the addresses of an adapter have in common: paths, the reading of errors,
//     and the lessons of refusals.
//   - Quirks: how one model at one address differs, as its adapter sets it and as refusals
//     taught it. Adaption: how one request differs from others of its model.
//   - Form: another API of an address that answers the same requests, such as the Responses
//     API. Its wire format is in the adapter.
//   - Chunk: a part of a content in Mistral's form; see Quirks.Chunks. In other forms the
//     chunk of a stream is one event's data.
//
// # The shape of a history
//
// It follows from the history itself, so that each process sends the same. Reasoning goes back
// in the field in which it came (provider.Part.Field); if any answer has reasoning_content,
// each answer with calls has one, since DeepSeek and Kimi refuse others. In Mistral's form it
// is a chunk of thinking, which goes back with its signature.
// Members of calls and messages that are not known, such as extra_content with Gemini's
// signatures, go back in the same place (provider.ToolCall.Extra). Images and sounds of
// results follow in a user's message, since a tool's message takes only text, or are within
// it (Quirks.MediaInTool).
//
// # Tools
//
// The input schema of a tool is made a plain object, as OpenAI requires; see
// wire.Parameters. Ids of calls are at most 40 bytes long, or nine letters or
// digits (Quirks.NineID).
//
// # The end of a response
//
// [DONE] ends a chat completion. After a finish reason the response is complete without it,
// when the body ends in any way or two seconds have passed. Any other end is an error: the
// response was cut off. Calls are assembled from their pieces and returned only at the end,
// so a prefix of the arguments that happens to be valid JSON is never used as the arguments.
//
// Arguments that are not a JSON object at the end are returned as a JSON string of the
// model's text. They fail the check against the tool's schema, and the model receives that
// error. A call that the length limit cut off is left out with a footnote.
package chatcompletions
