// Package workspace has the folders that chats work in, over a data directory (package
// store): their states and files, undo, redo and restore, branches, what a call that was cut
// off has left, and the repositories in the user's folders.
//
// # Parts
//
//   - [Folders] is all of it. A method that changes a folder takes the chat's lock and the
//     folder's, in the order that package store has.
//   - A [Guard] keeps what a tool writes into a repository of the user's from being run by
//     git before the user has seen it.
//
// # Promises
//
// Nothing of the user's is lost: before a folder is changed, what differs from its last state
// becomes a state of its own, and a file that is not as the step to undo left it is a
// conflict that only an explicit choice overwrites. An operation that was killed half-way is
// taken back, or finished, by the next one that changes something in the chat; what only
// reads reports it as pending. [Folders] is safe for concurrent use, also by several
// processes.
package workspace
