//go:build unix

package gitguard

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// look returns the identity of a folder and when it last changed. A link at the path's
// last element is not followed.
func look(path string) (fileID, stamp, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return fileID{}, stamp{}, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return fileID{}, stamp{}, unix.ENOTDIR
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}, stamp{st.Mtim.Nano(), st.Ctim.Nano()}, nil
}

// idOf returns the identity of a file.
func idOf(info os.FileInfo) fileID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}
}
