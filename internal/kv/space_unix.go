//go:build !windows

package kv

import "golang.org/x/sys/unix"

const windows = false

// freeSpace is how many bytes this user may still write where dir is.
func freeSpace(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
