//go:build unix

package builtin

import "syscall"

const (
	// openFlags keep an open from waiting for a pipe's other end, from taking
	// a terminal, and from following a link that find did not see.
	openFlags     = syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_NOFOLLOW
	openDirectory = syscall.O_DIRECTORY
)
