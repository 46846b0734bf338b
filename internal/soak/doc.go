// Package soak has one test that runs fettle as its users do, for as long as it is
// given: many commands at once on one data directory, a server with clients that come
// and go, signals at random moments, a full disk, too few open files. After every round
// it checks that nothing which fettle acknowledged is lost or changed.
//
// # What is run
//
// The test builds the program and starts it as separate processes. The model is an HTTP
// server on the loopback address that streams slowly and checks the history of every
// request. A round has a mode:
//
//   - plain: commands and signals
//   - serve: the same next to a running server, whose streams are cut and resumed by
//     Last-Event-ID; the server is killed, too
//   - files: the same with commands that may open only a few files
//   - disk: on a small file system that is filled and made read-only meanwhile; the test
//     skips, with the reason, where the system doesn't allow it to mount one
//
// Signals go only to processes that the test has started, by their handles: KILL, TERM,
// INT, STOP with CONT or KILL later, and now and then KILL to all of them at once, as a
// power cut does. Nothing but the loopback address is used.
//
// # What is checked
//
// After a round all processes have ended, and the test reads back the data:
//
//   - each event that a client saw is in its turn, with the same bytes, in order, once;
//     the events of a turn have no gap and exactly one end
//   - each chat that was acknowledged is listed, and the numbers of chats are unique
//   - the text of a message is the sum of its deltas, and each call has a result
//   - `store verify` finds nothing, before and after a collection
//   - each backup that was reported as made can be restored, and is whole
//   - a chat's folder has the files of its state; undo restores the files from before a
//     call, and redo those that the call made
//   - no process of a tool survives, and what is left in the data directory is bounded
//   - no command has ended with the status of wrong usage, or with a stack of Go
//
// # Settings
//
// FETTLE_TEST_SOAK is how long it runs, such as 1h; the default is the better part of a
// minute. FETTLE_TEST_SEED repeats the choices of a run: which commands and signals there
// are and in which order, though not at which instant they occur. FETTLE_TEST_KEEP names
// a folder in which the data of failed rounds is kept.
package soak
