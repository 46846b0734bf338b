//go:build !race

package mcp_test

const raceDetector = false
