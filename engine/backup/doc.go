// Package backup makes a backup of a data directory while turns run, and restores one.
//
// [Make] copies journals, records and small files into a folder of the data directory
// while it holds the locks of folds and toolsets, and writes them and the snapshots'
// contents to an archive ([github.com/fettle-cli/fettle/engine/backup/archive]), so that
// everything in it is of one moment. With Options.Verify it restores what it wrote into
// another folder and compares every file.
//
// [Restore] unpacks an archive next to the data directory, opens and checks it as a
// [store.Store], and exchanges the two. A mark in the data directory records how far the
// exchange has come; whatever opens the directory next completes it.
//
// Both are cancelled by their context and leave nothing behind then. Several backups can be
// made at once; a restore has the data directory to itself. The locks and their order are
// described in package store.
package backup
