// Package newfile writes the files that a command was asked for by name, such as
// an export or a backup: a file is there as a whole or not at all, and one that is
// there already is never replaced unasked. It isn't for fettle's own files, which
// their packages keep (see commands/config/wholefile).
//
// What [WriteWhole] has written is synced before it gets its name.
package newfile
