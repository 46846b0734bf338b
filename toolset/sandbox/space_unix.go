//go:build unix

package sandbox

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// freeSpace is what a user may still write on a folder's disk; -1 is unknown.
func freeSpace(dir string) int64 {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return -1
	}
	return int64(st.Bavail) * int64(st.Bsize)
}

// freeFiles is how many files can still be made on a folder's disk; -1 means unknown, as
// on file systems without such a number.
func freeFiles(dir string) int64 {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil || st.Files == 0 {
		return -1
	}
	return int64(st.Ffree) //nolint:unconvert
}

// allocated is what a file takes on the disk: a hole takes nothing.
func allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512
	}
	return info.Size()
}
