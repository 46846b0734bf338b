//go:build race

package commandtest

const raceDetector = true
