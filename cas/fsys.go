package cas

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// The room's way to a folder's files. A folder is opened once; everything in it
// is reached from there name by name, and no link is followed on the way, so
// nobody can lead fettle out of it by exchanging a folder for a link. The type
// dir is per system: openat and the like on Unix (dir_unix.go), os.Root
// elsewhere (dir_other.go).

// stat is what the system says of a name, without following a link.
type stat struct {
	form  form
	mode  uint32 // permission bits
	size  int64
	mtime int64 // nanoseconds
	ctime int64 // nanoseconds; 0 where the system has none
	ino   uint64
	dev   uint64
	nlink uint64
	// whiteout marks the device 0/0, by which an upper layer of an overlay says that
	// a name was removed.
	whiteout bool
	// foreign marks what belongs to another user or group than this process does.
	foreign bool
}

// form is the kind of a file as the system has it.
type form byte

const (
	regular form = iota
	folderForm
	linkForm
	fifoForm
	socketForm
	deviceForm
	otherForm
)

func (f form) String() string {
	switch f {
	case fifoForm:
		return "FIFO"
	case socketForm:
		return "socket"
	case deviceForm:
		return "device"
	}
	return "no file"
}

// executable is the bit that is kept: whether the owner may run the file.
func (s *stat) executable() bool { return s.mode&0o100 != 0 }

func (s *stat) fileKind() Kind {
	if s.executable() {
		return Executable
	}
	return File
}

// same tells whether nothing has happened to a file between two stats.
func (s *stat) same(t *stat) bool {
	return s.form == t.form && s.size == t.size && s.mtime == t.mtime && s.ctime == t.ctime &&
		s.ino == t.ino && s.mode == t.mode
}

// tree is an open folder: the workspace's root.
type tree struct {
	top *os.File // keeps the folder open; nil where root serves
	os  *os.Root
	// fault is called before each call to the system with its name and the
	// name of the file, and its error is the call's. It is nil but in tests.
	fault func(call, name string) error
}

// openTree opens the folder of a Root, which the caller may close before.
func openTree(root *os.Root, fault func(call, name string) error) (*tree, error) {
	top, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	return &tree{top: top, os: root, fault: fault}, nil
}

func (t *tree) close() { _ = t.top.Close() }

func (t *tree) check(call, name string) error {
	if t.fault == nil {
		return nil
	}
	return t.fault(call, name)
}

// errLink is a link, or another thing, where a folder was.
var errLink = errors.New("it is no folder any more")

// gone tells that there is nothing under a name.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// split divides a path of slashes into folder and name; the root is "".
func split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// within tells whether path is dir or below it.
func within(path, dir string) bool {
	return dir == "" || path == dir || (strings.HasPrefix(path, dir) && path[len(dir)] == '/')
}
