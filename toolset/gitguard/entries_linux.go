package gitguard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// The fields of a record of getdents64: the inode, the offset, the record's length, the kind of
// the entry, and its name, which a zero ends.
const (
	recordLength = 16
	recordKind   = 18
	recordName   = 19
)

// entriesOf returns the entries of a folder that is open as f, with the kinds that the file
// system lists. A file of an os.Root would ask the system for the stat of each entry, which
// takes most of the time of a search; that is needed only where no kind is listed.
func entriesOf(dir *os.Root, f *os.File) (all []entry, err error) {
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.ReadDirent(int(f.Fd()), buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return all, &fs.PathError{Op: "readdir", Path: f.Name(), Err: err}
		}
		if n <= 0 {
			return all, nil
		}
		for rest := buf[:n]; len(rest) > recordName; {
			length := int(binary.NativeEndian.Uint16(rest[recordLength:]))
			if length <= recordName || length > len(rest) {
				return all, &fs.PathError{Op: "readdir", Path: f.Name(), Err: unix.EIO}
			}
			name, _, _ := bytes.Cut(rest[recordName:length], []byte{0})
			kind := rest[recordKind]
			rest = rest[length:]
			if e, ok := entryOf(dir, string(name), kind); ok {
				all = append(all, e)
			}
		}
	}
}

// entryOf returns an entry of a folder, and false if it is the folder itself or the one above,
// or does not exist any more.
func entryOf(dir *os.Root, name string, kind byte) (entry, bool) {
	if name == "." || name == ".." {
		return entry{}, false
	}
	if kind != unix.DT_UNKNOWN {
		return entry{name, kind == unix.DT_DIR}, true
	}
	info, err := dir.Lstat(name)
	if err != nil {
		return entry{name, false}, !errors.Is(err, fs.ErrNotExist)
	}
	return entry{name, info.IsDir()}, true
}
