// Package wspath resolves paths that models write: which file of a workspace a spelling
// means, regardless of links, dots, quotes or letter case in the spelling. The builtin
// tools open what it returns, and package permission compares rules with what it
// returns, so that a rule and an action never disagree about the file.
//
// [Name] and [Find] are for the tools: they return errors that a model can act on. [Of]
// is for rules: it accepts every string, reports paths outside the workspace, too, and
// never fails.
//
// The package reads the file system through the workspace's root, and changes nothing.
// Between the resolution and the use of a name another process can change a folder; the
// root still confines the access, and the engine resolves a second time when a call
// starts. Functions are safe for concurrent use.
package wspath
