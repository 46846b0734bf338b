// Package archtest holds the tests about the project itself: which room may
// import which, that every room and every exported name says what it is, that
// functions and files stay small, that no state hides in package variables,
// that the module, the release and the documents agree with the tree.
//
// It is tests alone and is linked into nothing. It is not a linter for taste:
// what is checked here are the promises of ARCHITECTURE.md and CONTRIBUTING.md
// that a reviewer would otherwise have to remember.
//
// # Vocabulary
//
//   - Tree: the module's Go files, parsed once, for all systems at once: build
//     constraints are not looked at, so a breach in a _windows.go file shows
//     on Linux too.
//   - Room: a package of ours, written as Go writes relative patterns:
//     ./engine is one room, ./engine/... it and all below, and a * stands for
//     one step of a path.
//   - Rule: who may not import what, and why.
//   - Exception: a place where a check does not hold, always with its reason.
//     One that is no longer needed fails the test, so that the lists shrink.
//
// Each check is a function from a tree to complaints, and each has a test with
// a made-up tree that it must complain about. The checks read files and run
// `go list` and `git ls-files`; they write nothing, and need no network where
// the modules have been downloaded once.
package archtest
