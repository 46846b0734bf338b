//go:build unix

package bundle

import "golang.org/x/sys/unix"

// openNoWait keeps a FIFO that took a file's place from hanging us.
const openNoWait = unix.O_NONBLOCK
