//go:build unix

package prompts

import "syscall"

// nonblock keeps a FIFO that nobody writes to from holding an open up.
const nonblock = syscall.O_NONBLOCK
