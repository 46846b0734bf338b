//go:build !linux

package lockfile

// commandOf returns "": other systems show the command line of a process only by
// calls that need more than a file.
func commandOf(int) string { return "" }

// Stopped returns false, since the state isn't known here.
func Stopped(int) bool { return false }

// holders returns nothing: a lock's file names its holder.
func holders(string) []int { return nil }
