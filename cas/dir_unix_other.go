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

// chmodName sets the permission bits of a name, which is not a link.
func (d *dir) chmodName(name string, mode uint32) error {
	return d.do("chmod", name, func() error { return unix.Fchmodat(d.fd, name, mode, unix.AT_SYMLINK_NOFOLLOW) })
}

func unsupported(err error) bool { return errors.Is(err, errNoCall) || errors.Is(err, unix.ENOSYS) }

// clone is for Linux; elsewhere bytes are copied.
func clone(_, _ *os.File) error { return errNoCall }

// listsFaithfully says no: folders are read each time.
func listsFaithfully(*os.File) bool { return false }

// remote says yes: which file systems have clocks of their own isn't known
// here, and it costs one more reading of a file that has changed.
func remote(*os.File) bool { return true }
