// Package completion is the command completion, which prints a script for a shell, and
// the hidden command __complete, which those scripts call. What it suggests is found by
// package suggest; here are only what shells send and what they accept.
package completion
