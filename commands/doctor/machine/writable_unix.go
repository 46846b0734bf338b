//go:build unix

package machine

import "golang.org/x/sys/unix"

// Writable tells whether files can be made in a folder, without making one.
func Writable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }
