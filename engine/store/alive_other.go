//go:build !unix

package store

// ProcessAlive tells whether there is a process with this number, or nobody can tell.
func ProcessAlive(int) bool { return true }
