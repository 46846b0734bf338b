// Package chat holds the data of conversations and the rules that need nothing else: a
// [Chat] with its [Message] tree, the [ToolCall] and [Turn] records, the decisions about
// payloads, and the export format ([Document]).
//
// A [Reducer] turns the events of a turn into what the turn adds to its chat: the answer and
// the records of its calls. A live turn and the store use the same one, so a model is sent
// in mid-turn what is stored afterwards. [Acceptance] is the first line of a turn's journal:
// together with the events it is all that the store needs to record the turn.
//
// The fields of [Chat], [Message], [ToolCall] and [PayloadDecision] are a format on disk.
//
// Documents of other programs (ChatGPT, Claude) and of fettle are read by [DocumentReader],
// which bounds their size and checks them: what a document says is never trusted. Nothing
// here opens a file or a store. Values are not safe for concurrent use.
package chat
