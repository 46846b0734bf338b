//go:build unix

package cas

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// dir is an open folder.
type dir struct {
	t  *tree
	fd int
}

const openDirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK

// dir opens a folder beneath the root, following no link. path has slashes.
func (t *tree) dir(path string) (*dir, error) {
	if err := t.check("opendir", path); err != nil {
		return nil, err
	}
	fd, err := openBeneath(int(t.top.Fd()), path)
	if err != nil {
		return nil, dirError("opendir", path, err)
	}
	return &dir{t: t, fd: fd}, nil
}

// sub opens a folder of the folder, which is not a link.
func (d *dir) sub(name string) (*dir, error) {
	if err := d.t.check("opendir", name); err != nil {
		return nil, err
	}
	fd, err := retry(func() (int, error) { return unix.Openat(d.fd, name, openDirFlags, 0) })
	if err != nil {
		return nil, dirError("opendir", name, err)
	}
	return &dir{t: d.t, fd: fd}, nil
}

// dirError makes one error of what a replaced folder shows itself by.
func dirError(call, path string, err error) error {
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EXDEV) {
		err = errLink
	}
	return &fs.PathError{Op: call, Path: path, Err: err}
}

// openStepwise opens a path name by name. It is the way where openat2 isn't, or
// the path is longer than one call takes.
func openStepwise(top int, path string) (int, error) {
	fd, err := retry(func() (int, error) { return unix.Openat(top, ".", openDirFlags, 0) })
	for name := range strings.SplitSeq(path, "/") {
		if err != nil {
			return -1, err
		}
		if name == "" {
			continue
		}
		up := fd
		fd, err = retry(func() (int, error) { return unix.Openat(up, name, openDirFlags, 0) })
		_ = unix.Close(up)
	}
	return fd, err
}

// retry repeats a call that a signal has interrupted.
func retry[T any](call func() (T, error)) (T, error) {
	for {
		v, err := call()
		if !errors.Is(err, unix.EINTR) {
			return v, err
		}
	}
}

func (d *dir) close() { _ = unix.Close(d.fd) }

// do runs a call on a name in the folder.
func (d *dir) do(call, name string, fn func() error) error {
	err := d.t.check(call, name)
	if err == nil {
		_, err = retry(func() (struct{}, error) { return struct{}{}, fn() })
	}
	if err != nil {
		return &fs.PathError{Op: call, Path: name, Err: err}
	}
	return nil
}

// names lists the folder in the system's order, which stays the same while
// nothing is added or removed.
func (d *dir) names(buf []byte) ([]string, error) {
	if err := d.t.check("readdir", "."); err != nil {
		return nil, err
	}
	var names []string
	for {
		n, err := retry(func() (int, error) { return unix.ReadDirent(d.fd, buf) })
		if err != nil {
			return nil, &fs.PathError{Op: "readdir", Path: ".", Err: err}
		}
		if n <= 0 {
			return names, nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

func (d *dir) lstat(name string) (stat, error) {
	if err := d.t.check("lstat", name); err != nil {
		return stat{}, err
	}
	var st unix.Stat_t
	for {
		err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == nil {
			return statOf(&st), nil
		}
		if !errors.Is(err, unix.EINTR) {
			return stat{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
		}
	}
}

// ownIDs are the user and the group that the files of this process get.
var ownIDs = sync.OnceValue(func() [2]int { return [2]int{os.Geteuid(), os.Getegid()} })

func statOf(st *unix.Stat_t) stat {
	s := stat{
		mode: uint32(st.Mode) & 0o7777, size: st.Size, ino: st.Ino, dev: uint64(st.Dev), //nolint:unconvert
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), nlink: uint64(st.Nlink), //nolint:unconvert
	}
	s.foreign = int(st.Uid) != ownIDs()[0] || int(st.Gid) != ownIDs()[1]
	s.whiteout = st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == 0
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		s.form = regular
	case unix.S_IFDIR:
		s.form = folderForm
	case unix.S_IFLNK:
		s.form = linkForm
	case unix.S_IFIFO:
		s.form = fifoForm
	case unix.S_IFSOCK:
		s.form = socketForm
	case unix.S_IFCHR, unix.S_IFBLK:
		s.form = deviceForm
	default:
		s.form = otherForm
	}
	return s
}

func fstat(f *os.File) (stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return stat{}, &fs.PathError{Op: "fstat", Path: f.Name(), Err: err}
	}
	return statOf(&st), nil
}

// self is the stat of the folder.
func (d *dir) self() (stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(d.fd, &st); err != nil {
		return stat{}, &fs.PathError{Op: "fstat", Path: ".", Err: err}
	}
	return statOf(&st), nil
}

func (d *dir) openFile(call, name string, flags int, mode uint32) (*os.File, error) {
	var fd int
	err := d.do(call, name, func() (err error) {
		fd, err = unix.Openat(d.fd, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NOCTTY, mode)
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// open opens a file for reading. It neither follows a link nor waits for a
// FIFO's other end; the caller looks at what it got.
func (d *dir) open(name string) (*os.File, error) {
	return d.openFile("open", name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
}

// create makes a file that wasn't there.
func (d *dir) create(name string, mode uint32) (*os.File, error) {
	return d.openFile("create", name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, mode)
}

func (d *dir) readlink(name string) (target string, err error) {
	buf := make([]byte, 256)
	for {
		var n int
		err := d.do("readlink", name, func() (err error) {
			n, err = unix.Readlinkat(d.fd, name, buf)
			return err
		})
		if err != nil {
			return "", err
		}
		if n < len(buf) {
			return string(buf[:n]), nil
		}
		buf = make([]byte, 2*len(buf))
	}
}

func (d *dir) symlink(target, name string) error {
	return d.do("symlink", name, func() error { return unix.Symlinkat(target, d.fd, name) })
}

func (d *dir) mkdir(name string) error {
	return d.do("mkdir", name, func() error { return unix.Mkdirat(d.fd, name, 0o777) })
}

func (d *dir) remove(name string) error {
	return d.do("unlink", name, func() error { return unix.Unlinkat(d.fd, name, 0) })
}

func (d *dir) rmdir(name string) error {
	return d.do("rmdir", name, func() error { return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR) })
}

// rename moves a name to another one, replacing what is there.
func (d *dir) rename(name string, to *dir, newName string) error {
	return d.do("rename", name, func() error { return unix.Renameat(d.fd, name, to.fd, newName) })
}

// chmod sets the folder's own permission bits.
func (d *dir) chmod(mode uint32) error {
	return d.do("chmod", ".", func() error { return unix.Fchmod(d.fd, mode) })
}

// chtimes sets the time of modification of a name, of a link itself.
func (d *dir) chtimes(name string, mtime int64) error {
	at := unix.NsecToTimespec(mtime)
	ts := []unix.Timespec{at, at} // not every system can leave the time of access as it is
	return d.do("chtimes", name, func() error { return unix.UtimesNanoAt(d.fd, name, ts, unix.AT_SYMLINK_NOFOLLOW) })
}

// sync brings the folder's names to the disk.
func (d *dir) sync() error {
	return d.do("fsync", ".", func() error { return unix.Fsync(d.fd) })
}

// link gives a file of the folder another name, in another folder.
func (d *dir) link(name string, to *dir, newName string) error {
	return d.do("link", name, func() error { return unix.Linkat(d.fd, name, to.fd, newName, 0) })
}

// hasModes tells that the system keeps the executable bit, and links.
const hasModes = true
