//go:build unix && !linux

package cas

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func openBeneath(top int, path string) (int, error) { return openStepwise(top, path) }

// errNoCall is a call that only Linux has.
var errNoCall = errors.New("this system has no such call")

func (d *dir) exchange(string, *dir, string) error { return errNoCall }

func (d *dir) renameNew(string, *dir, string) error { return errNoCall }

func unsupported(err error) bool { return errors.Is(err, errNoCall) || errors.Is(err, unix.ENOSYS) }

func chmodNoFollow(dir int, name string, mode uint32) error {
	return unix.Fchmodat(dir, name, mode, unix.AT_SYMLINK_NOFOLLOW)
}

// clone is for Linux; elsewhere bytes are copied.
func clone(_, _ *os.File) error { return errNoCall }

// mount returns no mount: only Linux lists them.
func (d *dir) mount() (id int, writable bool) { return 0, true }

// listsFaithfully says no: folders are read each time.
func listsFaithfully(*os.File) bool { return false }

// remote says yes: which file systems have clocks of their own isn't known
// here, and it costs one more reading of a file that has changed.
func remote(*os.File) bool { return true }
