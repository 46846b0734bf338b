package term

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// closedAtStart reports whether a shell started the program with stdout closed (fettle >&-).
// The Go runtime opens /dev/null for reading and writing in the place of a closed stream.
// Programs that discard a child's output may do the same, which is not an error, so the
// parent has to be a shell whose own stdout is something else.
func closedAtStart(fd uintptr) bool {
	flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
	if err != nil {
		return err == unix.EBADF
	}
	if flags&unix.O_ACCMODE != unix.O_RDWR || !linksToNull("self", fd) {
		return false
	}
	parent := fmt.Sprint(os.Getppid())
	program, err := os.Readlink("/proc/" + parent + "/exe")
	return err == nil && isShell(filepath.Base(program)) && !linksToNull(parent, fd)
}

// linksToNull reports whether a stream of a process is /dev/null, or can't be looked at.
func linksToNull(process string, fd uintptr) bool {
	to, err := os.Readlink(fmt.Sprintf("/proc/%s/fd/%d", process, fd))
	return err == nil && to == os.DevNull || err != nil && !os.IsNotExist(err)
}

// isShell reports whether a program is a shell, by its file name.
func isShell(name string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "ash", "busybox", "fish", "yash", "tcsh", "csh", "nu", "elvish"}, name)
}
