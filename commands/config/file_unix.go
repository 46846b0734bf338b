//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// openNonblock opens a file for reading; a FIFO that nobody writes to doesn't
// hold it up.
func openNonblock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// openToAll tells whether a folder is one like /tmp: everyone may write to it,
// and it is sticky or belongs to someone else. A folder of the user's own that
// is open to everyone is what some file systems make of all folders.
func openToAll(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o002 == 0 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return info.Mode()&fs.ModeSticky != 0 || !ok || int(st.Uid) != os.Geteuid()
}

// readableByOthers tells whether users other than the owner can read a file.
func readableByOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o044 != 0 }
