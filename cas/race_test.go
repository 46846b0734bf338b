//go:build race

package cas

// raceEnabled makes the longest tests take samples: everything is some ten
// times as slow.
const raceEnabled = true
