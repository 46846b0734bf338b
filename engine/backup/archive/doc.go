// Package archive writes and reads the file that a backup of a data directory is:
// a stream of files, folders and links that ends with a sum of all of it. It
// knows nothing of what they are.
//
// It is not a synchronisation: a file is written once, from beginning to end, and
// read the same way. It is no signature either: the sum finds damage, not
// somebody who means it.
//
// # Vocabulary
//
//   - Entry: a file, folder or link, under a relative name with slashes.
//   - Head: the first entry, which says what the file is. End: the last one, with
//     the numbers and the sum of all between.
//
// # Format
//
// A tar archive compressed by zstandard, so that `tar --zstd -tf` lists it. The
// first entry is format.json ({"format":"fettle-backup","version":1,
// "made_at":…,"bytes":…}), the last one end.json ({"entries":…,"bytes":…,
// "sha256":…}). The sum is a SHA-256 over, for each entry in order, a byte for
// its kind, name, permissions and target with their lengths, size and content.
//
// # Promises
//
// What Close of a [Writer] has written is read back entry for entry. [Read]
// visits entries before it knows the sum: whoever makes something of them makes
// it beside, and believes it once Read has returned without an error. Anything
// that isn't as it was written, a file that breaks off included, is ErrDamaged.
// Names are checked before they are given out: relative, clean, without "..", each
// once among its neighbours as far as sum and order say.
//
// A Writer and a Read each belong to one goroutine. Memory doesn't grow with the
// number or size of entries.
package archive
