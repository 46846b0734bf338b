// Package trust remembers what the user has allowed: projects' configuration
// files that may do more than hold data, and commands that print a key. It
// asks nobody and judges nothing; whoever shows what there is to allow, and
// asks, is a command's business.
//
// # What is trusted
//
// A file is trusted by its real path and the SHA-256 of its content, so a
// change of it ends the trust, and so does a move. A command is trusted by its
// exact text. Both are kept in one file in the state directory, which is the
// user's own: no project brings it along, and no tool's workspace holds it.
//
// # Promises
//
// What can't be read, was written by a later version, or could have been
// written by others is no trust. Changes of several processes don't lose each
// other. The text of a command isn't kept, only its digest and a form of it
// without what looks like a key, for listings.
//
// A Store reads its file when it is first asked and once only; it may be used
// by several goroutines.
package trust
