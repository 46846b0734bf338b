// Package engine runs turns: it takes a person's message, asks a model, runs
// the tools that the model calls, and leaves one ordered stream of events.
// Every command, the server and the editor protocols are clients of it; there
// is no second path to a model.
//
// # Vocabulary
//
//   - Chat: a conversation, a tree of messages, with a number for people.
//   - Message: one node of that tree: a person's words, or all that one turn
//     answered (its parts keep the order of text, calls and results).
//   - Turn: one message and the answer to it, with its stream of events.
//   - Step: one response of the model within a turn; a turn in which the model
//     calls tools has several.
//   - Leaf: the message that a chat's next turn continues from.
//
// # The way of a turn
//
// Start resolves the chat and takes its lock, accepts the message into a
// journal of the turn's own, and returns once that is durable; the model is
// asked meanwhile. Each response of the model becomes events, each batch of
// events is one write to the journal, and only what was written is shown to
// followers. [Engine.Follow] reads the stream from any point, live or
// finished. What a turn adds to its chat is a pure function of its events
// (reduce.go), so a turn that was cut short anywhere leaves a valid history:
// no call without a result, no half text presented as whole.
//
// # Promises
//
//   - Acknowledged means durable: an event that was yielded by Follow survives
//     kill -9. Power loss can take what came after the last sync point: the
//     acceptance of the message, before and after each tool call, the end.
//   - A started tool call is never run again unasked.
//   - One turn at a time in a chat, many chats side by side, in one process
//     or in many on one data directory.
//   - An Engine is safe for concurrent use. Close cancels its live turns and
//     waits for them.
package engine
