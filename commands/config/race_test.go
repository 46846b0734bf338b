//go:build race

package config

// raceEnabled tells that the race detector makes everything ten times slower.
const raceEnabled = true
