//go:build race

package manifest

// raceEnabled tells that the race detector is on.
const raceEnabled = true
