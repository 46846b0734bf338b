// Package atomicfile replaces, removes and reads files in the way that all three
// systems allow while other processes use the same files. It is not for files that
// several processes append to, and it takes no lock on the target: callers that read a
// file, change it and write it back hold their own lock.
//
// # Vocabulary
//
//   - Target: the file that is replaced.
//   - Temporary file: the new content until it has the target's name. It is in
//     the target's folder and is called .NAME.fettle-new, so that the next
//     writer of the same target finds what a killed one left.
//   - Owner: the process that writes a temporary file. The kernel determines whether it
//     is alive: on Unix the owner holds a lock on the file (flock), and on Windows an
//     open file that isn't shared for deletion can't be removed.
//   - Ledger: a folder of records, one for each temporary file or folder whose
//     name is random and whose place is chosen by the user. A sweep removes what
//     a record names if the record's owner is dead and the name has the record's
//     random part.
//
// # Promises
//
// A reader sees the old content or the new one, never a part. With [Synced] that
// holds after a power cut too. A temporary file of a living owner is never
// removed by another process. One of a dead owner is removed by the next writer
// of the same target or by a sweep. No decision depends on the age of a file.
//
// Windows refuses to replace, remove or open a file while another process uses
// it in certain ways: virus scanners and indexers do so at any time. [Rename],
// [Remove], [RemoveAll], [Open] and [ReadFile] retry for about two seconds, as
// the go command does. [Open] and [ReadFile] share the file for deletion, so
// that a reader doesn't keep a writer from replacing it. Nothing is retried on
// other systems.
//
// Functions are safe for concurrent use. A [File] belongs to one goroutine.
package atomicfile
