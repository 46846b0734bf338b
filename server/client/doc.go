// Package client is the engine's turns by way of a running `fettle serve`: for
// commands beside a server of the same user, and for `fettle ask --server URL`.
// It is no general client of the API; other programs have /openapi.json.
//
// # Vocabulary
//
//   - Local: the server of a data directory, by its Unix socket. What it takes of
//     its owner is all that an engine takes: see server/owner.go.
//   - Remote: a server by its address and token. It takes what the public API
//     takes, by its own configuration, and reaches no folder of this machine.
//   - Turns: what both satisfy, as *engine.Engine does. A command that has one of
//     the three shows the same of it.
//   - Share: the time in which a server takes turns at its store with this
//     process, which then reads and writes it as it does without a server.
//
// # Promises
//
//   - Find costs a look for one small file where no server runs. A note that a
//     killed server left is no server.
//   - A local server is used only if it is of this version of these operations, of
//     this program's version, and of this data directory; whether its
//     configuration is the caller's own is for the caller to see (Info.Settings).
//   - A stream that breaks is taken up again after the last event, for some
//     seconds; each event is yielded once and in order. [ErrGone] says that nobody
//     answers any more.
//   - A turn that was begun here is cancelled by the server when this process ends.
//   - No key leaves the process. A token goes to the address that it was given for
//     and no other: redirects are not followed.
//
// # Concurrency
//
// Local and Remote are safe for concurrent use. Close ends what they hold open;
// no goroutine is left behind then.
package client
