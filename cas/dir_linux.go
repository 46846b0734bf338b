package cas

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/fettle-cli/fettle/internal/mounts"
)

// openBeneath opens a folder in one call where the kernel knows openat2 (5.6).
func openBeneath(top int, path string) (int, error) {
	if path == "" || len(path) >= unix.PathMax {
		return openStepwise(top, path)
	}
	how := unix.OpenHow{Flags: openDirFlags, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS}
	fd, err := retry(func() (int, error) { return unix.Openat2(top, path, &how) })
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EAGAIN) {
		return openStepwise(top, path) // an old kernel, a filter of a container, a rename in between
	}
	return fd, err
}

// mount returns the id of the mount that the folder is in, 0 where that is not known, and
// whether this process may write to the folder.
func (d *dir) mount() (id int, writable bool) {
	id, _ = mounts.Of(d.fd)
	return id, unix.Faccessat(d.fd, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS) == nil
}

// exchange swaps two names in one step, so that what was there is never lost.
func (d *dir) exchange(name string, to *dir, newName string) error {
	return d.do("exchange", name, func() error {
		return unix.Renameat2(d.fd, name, to.fd, newName, unix.RENAME_EXCHANGE)
	})
}

// renameNew moves a name to another one that must not be there.
func (d *dir) renameNew(name string, to *dir, newName string) error {
	return d.do("rename", name, func() error {
		return unix.Renameat2(d.fd, name, to.fd, newName, unix.RENAME_NOREPLACE)
	})
}

// chmodNoFollow is fchmodat2, or before Linux 6.6 a chmod by way of /proc of a file
// that has been looked at.
func chmodNoFollow(dir int, name string, mode uint32) error {
	err := unix.Fchmodat(dir, name, mode, unix.AT_SYMLINK_NOFOLLOW)
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EPERM) {
		return err
	}
	return chmodByPath(dir, name, mode) // EPERM is also what the filter of a container says
}

func chmodByPath(dir int, name string, mode uint32) error {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return unix.ELOOP
	}
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), mode)
}

// unsupported tells that the kernel or the file system can't do a call.
func unsupported(err error) bool {
	return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOPNOTSUPP)
}

// clone makes dst share src's blocks, where the file system can.
func clone(dst, src *os.File) error {
	return unix.IoctlFileClone(int(dst.Fd()), int(src.Fd()))
}

// remote tells file systems whose clock or whose timestamps are not ours.
func remote(f *os.File) bool {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err != nil {
		return true
	}
	switch uint32(st.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC,
		unix.V9FS_MAGIC, unix.FUSE_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC, unix.AFS_SUPER_MAGIC, unix.CODA_SUPER_MAGIC:
		return true
	}
	return false
}

// listsFaithfully tells file systems of this machine whose folders are known to
// change their times with every name that comes or goes.
func listsFaithfully(f *os.File) bool {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		return true
	}
	return false
}
