package term

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
	flushRead  = 1 // FREAD of <sys/fcntl.h>
)

// flushInput drops what was typed and not read.
func flushInput(fd int) { _ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, flushRead) }

// waitReadable waits until one of two files can be read, and tells whether the
// first can. It uses select, since poll refuses /dev/tty here.
func waitReadable(a, b int, limit time.Duration) (bool, error) {
	if max(a, b) >= unix.FD_SETSIZE {
		return false, fmt.Errorf("file number %d is too high for select", max(a, b))
	}
	var set unix.FdSet
	set.Set(a)
	set.Set(b)
	tv := unix.NsecToTimeval(limit.Nanoseconds())
	if _, err := unix.Select(max(a, b)+1, &set, nil, nil, &tv); err != nil {
		return false, err
	}
	return set.IsSet(a), nil
}
