// Package permission decides whether a tool call may run: by rules, which are globs over
// tools and their arguments, and by what the tool and the folder require. A rule is not a
// boundary: the sandbox is (package toolset). Rules decide which calls need no approval,
// and which never run. Where no rule decides, the [Mode] of approvals does. Plan mode
// ([InPlan]) is a further restriction, which package engine applies.
//
// [Resolve] reads the file system to determine which files the arguments mean, and
// [Policy.Decide] decides about the result; no decision depends on the spelling of a path
// alone. The package asks no user and stores nothing. Package engine asks, and stores the
// answers as rules.
package permission
