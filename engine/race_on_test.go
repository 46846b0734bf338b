//go:build race

package engine

// raceDetector reports whether the race detector is on, with which all takes ten times
// as long.
const raceDetector = true
