//go:build unix

package builtin

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and group of the one that it replaces. Only
// root may give files away; for others the file becomes theirs, as with any
// editor.
func keepOwner(f *os.File, old fs.FileInfo) {
	was, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	info, err := f.Stat()
	if err != nil {
		return
	}
	if is, ok := info.Sys().(*syscall.Stat_t); ok && (is.Uid != was.Uid || is.Gid != was.Gid) {
		_ = f.Chown(int(was.Uid), int(was.Gid))
	}
}
