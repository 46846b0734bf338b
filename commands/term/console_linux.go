package term

import (
	"time"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)

// flushInput drops what was typed and not read.
func flushInput(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }

// waitReadable waits until one of two files can be read, and tells whether the
// first can.
func waitReadable(a, b int, limit time.Duration) (bool, error) {
	fds := []unix.PollFd{{Fd: int32(a), Events: unix.POLLIN}, {Fd: int32(b), Events: unix.POLLIN}}
	if _, err := unix.Poll(fds, int(limit.Milliseconds())); err != nil {
		return false, err
	}
	return fds[0].Revents != 0, nil
}
