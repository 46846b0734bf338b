//go:build race

package kv

// underRace is set in builds with the race detector, under which a session
// takes five times as long: there the tests that count sessions do fewer.
const underRace = true
