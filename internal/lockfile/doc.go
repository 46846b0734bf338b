// Package lockfile provides advisory locks between processes that leave nothing behind.
//
// A lock is the kernel's lock (flock, LockFileEx) on a small file. The file itself
// means nothing: it is created when a caller acquires the lock and unlinked when an
// exclusive owner releases it. A lock is owned by the one who holds it, not by a
// process: goroutines of one process exclude each other too.
//
// # Vocabulary
//
//   - Exclusive: [Try], [Acquire]. One owner; the file is unlinked on release.
//   - Shared: [TryShared], [AcquireShared]. Many owners, none of them at the same time
//     as an exclusive one. Shared owners do not unlink, since each would pull the file
//     from under the others; the next exclusive owner does.
//   - Owner: the process that holds a lock, as "pid 123 (fettle undo), which is
//     stopped". On Linux the kernel's list names it, elsewhere the text that the holder
//     wrote into the file. It is for messages, and for how long one waits.
//   - Patience: when a wait is announced, and how long it lasts. A stopped holder
//     (Ctrl-Z) is announced also where the wait was announced before, and waited for
//     longer: it does not end by itself.
//
// # Promises
//
// An acquired lock is the lock on the file that the path names. Since owners unlink, a
// waiter can win the lock on a file that is no longer there; every acquisition compares
// the locked file with the path afterwards and starts again if they differ. On Unix the
// owner unlinks while it still holds the lock, so that a file with a living owner is
// never removed by another; on Windows an open file can't be removed, so there it is
// removed after the release, and only if no process has opened it since.
//
// A process that dies, by kill -9 too, loses its locks at once, for the kernel closes
// its files; its children do not inherit them. The file remains then and is used and
// removed by the next owner. The same holds after a power cut. No process needs to
// judge whether a lock is stale.
//
// Waiting is polling with a growing interval, since a blocking flock can't be
// cancelled. It is not a queue: the longest waiter isn't served first.
//
// What it is not: a lock against programs that don't take it, or one that works on a
// file system without flock (the error reports that).
package lockfile
