// Package permission decides whether a tool call may run: by rules that are globs over
// tools and their arguments, and by what the tool and the folder ask for. A rule is no
// containment: that is the sandbox's (package toolset); rules only say what needs no
// question, and what is never done.
//
// It is pure: it asks nobody and remembers nothing. Package engine puts the questions
// and keeps the answers, as rules.
package permission
