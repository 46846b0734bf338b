// Package nodetest finds what tests try fettle with that is written for Node:
// programs of npm, a Node that is new enough for them, and a browser. It is imported by
// tests alone.
//
// Each set has a package.json and a lock file in the tree, and is installed outside
// of it: .ci/run does so, and names the folder in a variable of the environment.
// By hand it is `npm ci --prefix DIR`, which puts it beside its lock file. Where a
// set isn't there the test is skipped, or fails, as package needtest says.
package nodetest
