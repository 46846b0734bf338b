// Package engine runs turns: it takes a user's message, asks a model, runs the tools
// that the model calls, and leaves one ordered stream of events. Every command, the
// server and the editor protocols are clients of it; there is no second path to a
// model.
//
// # Vocabulary
//
//   - Chat: a conversation, a tree of messages, with a number for people.
//   - Message: one node of that tree: a user's message, or all that one turn answered
//     (its parts keep the order of text, calls and results).
//   - Turn: one message and the answer to it, with its stream of events.
//   - Step: one response of the model within a turn; a turn in which the model
//     calls tools has several.
//   - Leaf: the message that a chat's next turn continues from.
//
// # Parts
//
//   - A [store.Store] is a data directory: tables, journals, snapshots, locks, search,
//     documents, usage. It runs no turns; completion, doctor and [Backup] use it alone. Its
//     package has the order of the locks.
//   - [workspace.Folders] are the folders of chats over a Store: history, undo and redo, restore,
//     branches, the repositories in the user's folders.
//   - An [Engine] has both, the tools, and the turns that run.
//
// The data of chats, and the rules that need nothing else, are in package chat.
//
// # The way of a turn
//
// Start resolves the chat and takes its lock, accepts the message into a
// journal of the turn's own, and returns once that is durable; the model is
// asked meanwhile. Each response of the model becomes events, each batch of
// events is one write to the journal, and only what was written is shown to
// followers. [Engine.Follow] reads the stream from any point, live or
// finished. What a turn adds to its chat is a pure function of its events
// ([chat.Reducer]), so a turn that was cut short anywhere leaves a valid history:
// no call without a result, no half text presented as whole.
//
// # Promises
//
//   - Acknowledged means durable: an event that was yielded by Follow survives
//     kill -9. Power loss can take what came after the last sync point: the
//     acceptance of the message, before and after each tool call, the end. The
//     one exception is the error with which a turn ends whose journal can no
//     longer be written: it is shown though it could not be kept.
//   - A turn that could not be accepted leaves nothing behind, nor does an ephemeral
//     one, except for what its tools did in the folder of a chat that existed before.
//   - A started tool call is never run again without a request, and each call that
//     started has a result, also where the turn was cut short.
//   - One turn at a time in a chat, many chats side by side, in one process
//     or in many on one data directory.
//   - A panic of a provider or a tool ends its turn or its call, not the program.
//   - An Engine is safe for concurrent use. Close cancels its starts and live
//     turns and waits for them.
//
// # Cancel
//
// Cancel returns at once; it ends the turn's context, which closes the model's stream,
// a wait for a lock, for the store, for the user or between retries. Not interrupted is
// a sync of the journal that is under way. A tool gets 3.5 seconds to end, and none
// after a second cancel. One that doesn't look at its context is then left behind: its
// goroutine lives until it does, which nothing waits for, and the workspace is closed
// under it, so that it changes no file while the chat's next turn runs. A tool that
// ignores its own time limit ends the turn in the same way.
//
// # States of the workspace
//
// A call of an entry with OwnProcess is a transaction where the machine has overlays
// (layer.go): what its process writes is collected in a layer and lands when the process has
// ended, with conflicts where another program changed the same. The file tools write to a
// layer on each Linux (OwnLayer), unless an editor writes for them. The state after the call
// is the last known one with the layer's changes; the user's folder is only searched for
// repositories. Nothing of a cancelled call lands. A layer that a killed process left waits
// for ApplyCut or DiscardCut. Calls of one response that may change something run one after
// the other, each with a layer of its own. A call that fails by EXDEV or EOVERFLOW, which an
// overlay causes, runs once without a layer when it is made again.
//
// Every other call that may change something is bracketed by two snapshots (package cas), and
// its end names both. What differs from the chat's last state before a call was done by
// another program, and becomes a separate state; after a call without a known end, it
// may be that one's work as well, and is a step. Where a state can't be kept before a
// call, the call doesn't run; where it can't be kept after it, the call counts as
// failed, and the last state stays the active one. Only Undo, Redo, RestoreState,
// PutFile and turns that go on elsewhere write into the folder; what a branch changes
// in the user's own is what steps have changed there. An ephemeral turn keeps no
// states.
//
// An operation on a folder that was killed half-way is taken back, or finished, by the
// next one that changes something in the chat, with a notice. What only reads leaves
// the folder as it is and reports the operation as pending (workspace/cut_restore.go).
//
// # Approvals of calls and of changes
//
// Package permission decides which calls need an approval; the chat's mode decides where no
// rule does (chat_mode.go). In plan mode a call that can do more than read the workspace is
// refused. In the mode [permission.Changes] a call of an entry with OwnProcess that is
// contained and has no network runs ahead of the question, in a layer, and the question has
// an [event.Review] of the layer (review.go, review_list.go). Nothing of it lands without an
// answer that names what lands, and the folder's lock is free while the question is open. A
// call that can't run first asks before it runs, with the reason. An answer that denies, the
// end of the turn and a time limit drop the layer; a killed process leaves it.
//
// # Payloads
//
// A turn offers the model the payloads of the request's page and tab, takes what
// it writes of them out of its text while that streams, and collects those of
// tools. Whatever ends a response, what was held back of it is shown before. A
// payload that was shown is a part of its message. Decide records what a person
// did with it, once, before the tool that its type names for that is started.
//
// # What a running call asks
//
// A tool of an MCP server may ask the person something, or a model for an answer. It is
// a [event.ConfirmRequest] with a form, answered by Confirm like an approval, only in
// turns whose request says CanAnswer; elsewhere the tool gets the answer that no user
// is present. The call's time stands still meanwhile (asks.go, prompted.go). The page
// that a server has for a call may request calls, too: these are edits outside of the
// turns (apps.go).
//
// # Search in documents
//
// SearchDocuments ranks the passages of stored documents by words, and by meaning too if
// [Options.Embedding] names a model; package retrieval has the rankings. The vectors are in
// the store by model and digest of the content, so a search embeds only what no search before
// has embedded with the model. They are stored in groups of some 128 passages: a cancelled or
// failed search keeps the groups that it finished. Collections remove the vectors of documents
// that were purged, and those of a model that no search used for 90 days.
//
// A search takes time proportional to the text of all documents (words) and to the number of
// passages times the length of a vector (meaning). The vectors are read from the store in
// each search and are never in memory together. `go run ./internal/bench growth` has the
// figures for 1,000, 10,000 and 100,000 passages.
package engine
