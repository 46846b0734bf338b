//go:build linux || darwin

package term

import "time"

// WaitReadable waits until one of two files can be read, or the time is over,
// and tells whether the first can. It is for who reads keys from a terminal.
func WaitReadable(a, b int, limit time.Duration) (bool, error) { return waitReadable(a, b, limit) }
