//go:build unix

package cas

import (
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// handle is an open file of a workspace, for the many small ones: an os.File asks
// the system two more things about each.
type handle struct {
	fd   int
	name string
}

// handle opens a file for reading, like open.
func (d *dir) handle(name string) (handle, error) {
	h := handle{name: name}
	err := d.do("open", name, func() (err error) {
		h.fd, err = unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
		return err
	})
	return h, err
}

func (h handle) stat() (stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(h.fd, &st); err != nil {
		return stat{}, &fs.PathError{Op: "fstat", Path: h.name, Err: err}
	}
	return statOf(&st), nil
}

// Read reads what comes next.
func (h handle) Read(p []byte) (int, error) {
	n, err := retry(func() (int, error) { return unix.Read(h.fd, p) })
	switch {
	case err != nil:
		return 0, &fs.PathError{Op: "read", Path: h.name, Err: err}
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return n, nil
}

func (h handle) close() { _ = unix.Close(h.fd) } // nothing was written

// file makes an os.File of it, which is closed in its stead.
func (h handle) file() *os.File { return os.NewFile(uintptr(h.fd), h.name) }
