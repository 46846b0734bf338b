// Package nodetest finds what tests try fettle with that is written for Node:
// programs of npm, and a Node that is new enough for them. It is imported by tests
// alone.
//
// Each set has a package.json and a lock file in the tree, and is installed outside
// of it: .ci/run does so, and names the folder in a variable of the environment.
// By hand it is `npm ci --prefix DIR`, which puts it beside its lock file. Where a
// set isn't there the test is skipped; under FETTLE_TEST_REQUIRE=all it fails.
package nodetest
