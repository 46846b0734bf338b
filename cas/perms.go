package cas

import (
	"errors"
	"io/fs"
	"os"
)

// setPerm gives a file or folder permission bits and returns those that it has then,
// which are others where the file system keeps fewer. An unknown Perm sets nothing.
func (d *dir) setPerm(name string, want Perm) (Perm, error) {
	st, err := d.lstat(name)
	if err != nil {
		return 0, err
	}
	if !want.Known() {
		return permOf(&st), nil
	}
	bits := want.Bits()
	if st.form == regular && bits&idBits != 0 {
		bits &^= foreignIDs(&st)
	}
	if bits == st.mode {
		return permOf(&st), nil
	}
	refused := d.chmodFile(name, bits)
	if st, err = d.lstat(name); err != nil {
		return 0, err
	}
	return permOf(&st), refusedPerm(refused, &st, bits)
}

// setFilePerm gives an open file permission bits and returns its stat after that.
func setFilePerm(f *os.File, bits uint32) (stat, error) {
	err := f.Chmod(PermOf(bits).FileMode())
	st, serr := fstat(f)
	if serr != nil {
		return st, serr
	}
	return st, refusedPerm(err, &st, bits)
}

// refusedPerm returns the error of a change of permission bits. A file system that keeps
// none refuses them; that is an error only where others could read or write what is
// private.
func refusedPerm(err error, st *stat, want uint32) error {
	refused := errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported)
	if refused && st.mode&^want&0o066 == 0 {
		return nil
	}
	return err
}

// permInPlace gives what stays where it is its permission bits.
func (m *mover) permInPlace(i int) error {
	o := &m.ops[i]
	d, name, err := m.parent(o.Path)
	if err != nil {
		return err
	}
	defer d.close()
	if o.PermsOnly() { // else it has just been put there
		if err := m.expect(d, name, o); err != nil {
			return err
		}
	}
	before, err := d.lstat(name)
	if err != nil {
		return err
	}
	m.undone(i, func() error {
		return m.back(o.Path, func(d *dir) error { return d.chmodFile(name, before.mode) })
	})
	if m.after[i].perm, err = d.setPerm(name, o.New.Perm); err != nil {
		return err
	}
	st, err := d.lstat(name)
	if err != nil {
		return err
	}
	if st.ino != before.ino || st.form != before.form {
		return errForeign
	}
	return m.note(i, d, name)
}

// lastPerms gives folders their permission bits, the deepest first: those that only
// change in them, and those that could not be moved with their own. These bits may
// forbid to change what is in the folder.
func (m *mover) lastPerms() error {
	for i := len(m.ops) - 1; i >= 0 && hasModes; i-- {
		o := &m.ops[i]
		switch {
		case o.New == nil || o.New.Kind != Folder || o.staged || m.skips(i):
		case o.PermsOnly() || o.New.Perm.Known() && o.New.Perm&0o700 != 0o700:
			if err := m.lateAt(i, m.permInPlace(i)); err != nil {
				return &effectError{o.Path, err}
			}
		}
	}
	return nil
}

// makeAgain makes a folder that was removed.
func makeAgain(d *dir, name string, perm Perm) error {
	if !perm.Known() {
		return d.mkdir(name, 0o777)
	}
	if err := d.mkdir(name, 0o700); err != nil {
		return err
	}
	_, err := d.setPerm(name, perm)
	return err
}

// moveNew is renameNew, in two steps where the system has no single one.
func (d *dir) moveNew(name string, to *dir, newName string) error {
	err := d.renameNew(name, to, newName)
	if !unsupported(err) {
		return err
	}
	if _, err := to.lstat(newName); err == nil {
		return &fs.PathError{Op: "rename", Path: newName, Err: fs.ErrExist}
	} else if !gone(err) {
		return err
	}
	return d.rename(name, to, newName)
}

// writable runs fn, once more with the folder made writable for it if it was
// read-only.
func writable(d *dir, fn func() error) error {
	err := fn()
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	st, serr := d.self()
	if serr != nil || st.mode&0o300 == 0o300 {
		return err
	}
	if cerr := d.chmod(st.mode | 0o700); cerr != nil {
		return err
	}
	err = fn()
	return errors.Join(err, d.chmod(st.mode))
}
