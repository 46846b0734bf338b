package bundle

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// folderIn opens a folder below a root.
func folderIn(root *os.Root, name string) (*os.File, error) { return root.Open(name) }

// openFolder is a folder that files are made in.
type openFolder = *os.File

// madeFile is a file that was just made. It is a bare descriptor: package os
// asks the kernel several things about each file that it opens, which for two
// thousand small ones takes as long as writing them.
type madeFile int

// makeIn makes a file in an open folder, which must not have one of that name;
// name has no slash.
func makeIn(dir *os.File, name string) (madeFile, error) {
	for {
		fd, err := unix.Openat(int(dir.Fd()), name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644)
		if !errors.Is(err, unix.EINTR) {
			return madeFile(fd), err
		}
	}
}

// Write writes all of p.
func (f madeFile) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := unix.Write(int(f), p[done:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

// Sync is not called: one call syncs all files here.
func (f madeFile) Sync() error { return unix.Fsync(int(f)) }

// Close closes it.
func (f madeFile) Close() error { return unix.Close(int(f)) }
