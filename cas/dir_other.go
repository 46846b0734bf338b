//go:build !unix

package cas

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// dir is a folder, by its path beneath the root: os.Root has no open folders
// that calls could start from.
type dir struct {
	t    *tree
	path string // with slashes
}

// dir checks that no name of the path is a link.
func (t *tree) dir(path string) (*dir, error) {
	if err := t.check("opendir", path); err != nil {
		return nil, err
	}
	at := ""
	for name := range strings.SplitSeq(path, "/") {
		if name == "" {
			continue
		}
		at = join(at, name)
		info, err := t.os.Lstat(filepath.FromSlash(at))
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, &fs.PathError{Op: "opendir", Path: path, Err: errLink}
		}
	}
	return &dir{t: t, path: path}, nil
}

func (d *dir) sub(name string) (*dir, error) { return d.t.dir(join(d.path, name)) }

func (d *dir) close() {}

func (d *dir) at(name string) string {
	if d.path == "" && name == "" {
		return "."
	}
	return filepath.FromSlash(join(d.path, name))
}

func (d *dir) names([]byte) ([]string, error) {
	if err := d.t.check("readdir", "."); err != nil {
		return nil, err
	}
	f, err := d.t.os.Open(d.at("."))
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	return names, errors.Join(err, f.Close())
}

func (d *dir) lstat(name string) (stat, error) {
	if err := d.t.check("lstat", name); err != nil {
		return stat{}, err
	}
	info, err := d.t.os.Lstat(d.at(name))
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

func statOf(info fs.FileInfo) stat {
	s := stat{mode: 0o666, size: info.Size(), mtime: info.ModTime().UnixNano()}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		s.form = regular
	case mode.IsDir():
		s.form = folderForm
	case mode&fs.ModeSymlink != 0:
		s.form = linkForm
	default:
		s.form = otherForm // a junction, a pipe: left alone
	}
	return s
}

func fstat(f *os.File) (stat, error) {
	info, err := f.Stat()
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

func (d *dir) self() (stat, error) {
	info, err := d.t.os.Lstat(d.at("."))
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

func (d *dir) open(name string) (*os.File, error) {
	if err := d.t.check("open", name); err != nil {
		return nil, err
	}
	return d.t.os.Open(d.at(name))
}

func (d *dir) create(name string, _ uint32) (*os.File, error) {
	if err := d.t.check("create", name); err != nil {
		return nil, err
	}
	return d.t.os.OpenFile(d.at(name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}

func (d *dir) readlink(name string) (string, error) {
	if err := d.t.check("readlink", name); err != nil {
		return "", err
	}
	return d.t.os.Readlink(d.at(name))
}

func (d *dir) symlink(target, name string) error {
	if err := d.t.check("symlink", name); err != nil {
		return err
	}
	return d.t.os.Symlink(target, d.at(name))
}

func (d *dir) mkdir(name string, _ uint32) error {
	if err := d.t.check("mkdir", name); err != nil {
		return err
	}
	return d.t.os.Mkdir(d.at(name), 0o777)
}

func (d *dir) remove(name string) error {
	if err := d.t.check("unlink", name); err != nil {
		return err
	}
	return d.t.os.Remove(d.at(name))
}

func (d *dir) rmdir(name string) error {
	if err := d.t.check("rmdir", name); err != nil {
		return err
	}
	return d.t.os.Remove(d.at(name))
}

func (d *dir) rename(name string, to *dir, newName string) error {
	if err := d.t.check("rename", name); err != nil {
		return err
	}
	return d.t.os.Rename(d.at(name), to.at(newName))
}

func (d *dir) chmod(uint32) error { return nil }

func (d *dir) sync() error { return nil } // Windows has no such call for folders

func (d *dir) chtimes(name string, mtime int64) error {
	if err := d.t.check("chtimes", name); err != nil {
		return err
	}
	return d.t.os.Chtimes(d.at(name), time.Time{}, time.Unix(0, mtime))
}

func (d *dir) link(name string, to *dir, newName string) error {
	if err := d.t.check("link", name); err != nil {
		return err
	}
	return d.t.os.Link(d.at(name), to.at(newName))
}

func (d *dir) chmodFile(string, uint32) error { return nil }

func foreignIDs(*stat) uint32 { return idBits }

// errNoCall is a call that only Linux has.
var errNoCall = errors.New("this system has no such call")

func (d *dir) exchange(string, *dir, string) error { return errNoCall }

func (d *dir) renameNew(string, *dir, string) error { return errNoCall }

func unsupported(err error) bool { return errors.Is(err, errNoCall) }

func clone(_, _ *os.File) error { return errNoCall }

// mount returns no mount: only Linux lists them.
func (d *dir) mount() (id int, writable bool) { return 0, true }

// listsFaithfully says no: folders are read each time.
func listsFaithfully(*os.File) bool { return false }

// remote says yes: without a change time an entry is believed only after it has
// been read twice.
func remote(*os.File) bool { return true }

// hasModes reports that the system keeps permission bits, and links.
const hasModes = false
