package cas

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"slices"
	"syscall"
)

// errForeign is a path that someone else changed at the very moment.
var errForeign = errors.New("someone else changed it at this moment")

// carry does what is to be done, or takes all of it back.
func (m *mover) carry() (left []Left, err error) {
	m.start = m.s.now().UnixNano()
	if left, err = m.effects(); err == nil {
		return left, nil
	}
	for _, u := range slices.Backward(m.undo) {
		if uerr := u.back(); uerr != nil {
			return nil, stuck(errors.Join(err, uerr))
		}
	}
	return nil, err
}

// stuck marks the error of a step of taking back.
func stuck(err error) error {
	if err == nil {
		return nil
	}
	return &UnfinishedError{Err: err}
}

// effects first removes, the deepest first, then replaces, then adds.
func (m *mover) effects() (left []Left, err error) {
	for i := len(m.ops) - 1; i >= 0; i-- {
		o := &m.ops[i]
		if o.Old == nil || (o.New != nil && !m.givesWay(o)) || m.skips(i) {
			continue
		}
		l, err := m.removal(i)
		if err = m.lateAt(i, err); err != nil {
			return nil, &effectError{o.Path, err}
		}
		left = append(left, l...)
	}
	m.s.pause("removed")
	for i := range m.ops {
		o := &m.ops[i]
		if o.New == nil || o.staged || m.skips(i) {
			continue
		}
		switch {
		case o.PermsOnly() && o.New.Kind == Folder: // at the end
		case o.PermsOnly():
			err = m.permInPlace(i)
		case o.Old != nil && !m.givesWay(o):
			err = m.replace(i)
		default:
			err = m.addition(i)
		}
		if err = m.lateAt(i, err); err != nil {
			return nil, &effectError{o.Path, err}
		}
		m.s.pause("moved")
	}
	if err := m.lastPerms(); err != nil {
		return nil, err
	}
	made := false // whether the folder that a staged path is in has come to its place
	for i := range m.ops {
		if m.ops[i].staged {
			m.done[i] = made
		} else {
			made = m.done[i]
		}
	}
	return left, nil
}

// undoStep takes one step of an op back.
type undoStep struct {
	op   int
	back func() error
}

// undone notes how the last step of an op is taken back.
func (m *mover) undone(i int, back func() error) { m.undo = append(m.undo, undoStep{i, back}) }

// givesWay tells that the old thing is removed first: a folder can't be
// exchanged for a file in one step everywhere.
func (m *mover) givesWay(o *op) bool {
	return (o.Old.Kind == Folder || o.New.Kind == Folder) && !o.PermsOnly()
}

// parent opens the folder that a path is in.
func (m *mover) parent(path string) (*dir, string, error) {
	up, name := split(path)
	d, err := m.t.dir(up)
	return d, name, err
}

// removal takes a path out of the folder. A folder that someone has put
// something into stays.
func (m *mover) removal(i int) ([]Left, error) {
	o := &m.ops[i]
	stage := m.stageOf(o.Path)
	d, name, err := m.parent(o.Path)
	if err != nil {
		return nil, err
	}
	defer d.close()
	if o.Old.Kind == Folder && !o.whole() {
		err := writable(d, func() error { return d.rmdir(name) })
		switch {
		case err == nil:
		case notEmpty(err) && o.New == nil:
			return []Left{{Path: o.Path, Kind: Folder, Reason: "it holds what is left alone"}}, nil
		case notEmpty(err):
			return nil, errForeign
		default:
			return nil, err
		}
		m.undone(i, func() error { return m.back(o.Path, func(d *dir) error { return makeAgain(d, name, o.Old.Perm) }) })
		m.done[i] = true
		return nil, nil
	}
	held := heldName("o", o.Path)
	if err := writable(d, func() error { return d.rename(name, stage.dir, held) }); err != nil {
		return nil, err
	}
	back := func() error {
		return m.back(o.Path, func(d *dir) error { return stage.dir.moveNew(held, d, name) })
	}
	err = m.expect(stage.dir, held, o)
	if err == nil && o.whole() && o.n.low.isFolder() {
		err = m.lands.expectBelow(m.t, join(stage.path, held))
	}
	if err != nil {
		return nil, errors.Join(err, stuck(back()))
	}
	m.undone(i, func() error { return m.putBack(back()) })
	m.done[i] = o.New == nil
	return nil, nil
}

// replace puts the new thing where the old one is. Where the system can, both
// change places in one step, so that what was there is looked at before it is
// given up.
func (m *mover) replace(i int) error {
	o := &m.ops[i]
	stage := m.stageOf(o.Path)
	d, name, err := m.parent(o.Path)
	if err != nil {
		return err
	}
	defer d.close()
	held := heldName("n", o.Path)
	swap := func(d *dir) error { return stage.dir.exchange(held, d, name) }
	err = writable(d, func() error { return swap(d) })
	if unsupported(err) {
		return m.replaceInSteps(i, d, name)
	}
	if err != nil {
		return err
	}
	back := func() error { return m.back(o.Path, swap) }
	if err := m.expect(stage.dir, held, o); err != nil {
		return errors.Join(err, stuck(back()))
	}
	m.undone(i, back)
	return m.note(i, d, name)
}

// replaceInSteps is replace where two names can't be exchanged.
func (m *mover) replaceInSteps(i int, d *dir, name string) error {
	o := &m.ops[i]
	stage := m.stageOf(o.Path)
	if err := m.expect(d, name, o); err != nil {
		return err
	}
	held, was := heldName("n", o.Path), heldName("o", o.Path)
	if err := writable(d, func() error { return d.rename(name, stage.dir, was) }); err != nil {
		return err
	}
	m.undone(i, func() error {
		return m.back(o.Path, func(d *dir) error { return stage.dir.moveNew(was, d, name) })
	})
	if err := stage.dir.moveNew(held, d, name); err != nil {
		return err
	}
	m.undone(i, func() error {
		return m.back(o.Path, func(d *dir) error { return d.rename(name, stage.dir, held) })
	})
	return m.note(i, d, name)
}

// addition puts something where nothing is.
func (m *mover) addition(i int) error {
	o := &m.ops[i]
	stage := m.stageOf(o.Path)
	d, name, err := m.parent(o.Path)
	if err != nil {
		return err
	}
	defer d.close()
	held := heldName("n", o.Path)
	err = writable(d, func() error { return stage.dir.moveNew(held, d, name) })
	if errors.Is(err, fs.ErrExist) {
		return errForeign
	}
	if err != nil {
		return err
	}
	m.undone(i, func() error {
		return m.back(o.Path, func(d *dir) error { return d.rename(name, stage.dir, held) })
	})
	return m.note(i, d, name)
}

// putBack judges the error of giving what was removed its name again. In a landing, a
// new file that another program has made under the name by then stays: the state before
// has what was removed.
func (m *mover) putBack(err error) error {
	if m.lands != nil && errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// back runs a step of taking back with the path's folder opened anew.
func (m *mover) back(path string, step func(d *dir) error) error {
	d, _, err := m.parent(path)
	if err != nil {
		return err
	}
	defer d.close()
	return writable(d, func() error { return step(d) })
}

// expect checks that a name is what the plan takes it for. A rename changes
// the time of change, so that isn't compared.
func (m *mover) expect(d *dir, name string, o *op) error {
	st, err := d.lstat(name)
	if gone(err) {
		return errForeign
	}
	if err != nil {
		return err
	}
	if o.PermsOnly() && o.New.Kind == Folder {
		if st.form != folderForm || permOf(&st) != o.Old.Perm {
			return errForeign
		}
		return nil
	}
	if o.n != nil && !o.n.low.content() && o.n.low.Kind != Link {
		return o.n.low.expect(&st)
	}
	was, ok := m.was(o)
	if !ok {
		return errForeign
	}
	switch was.Kind {
	case File, Executable:
		was.ctime = st.ctime
		if !was.unchanged(&st) {
			return errForeign
		}
		if was.racy && !was.Digest.IsZero() { // its stat needn't show the last edit
			return m.expectContent(d, name, was.Digest)
		}
	case Link:
		target, err := d.readlink(name)
		if err != nil && !gone(err) {
			return err
		}
		if err != nil || target != was.Text {
			return errForeign
		}
	default:
		return errForeign
	}
	return nil
}

// expectContent checks that a file's content is what the plan takes it for.
func (m *mover) expectContent(d *dir, name string, want Digest) error {
	f, err := d.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	c := copier{ctx: context.Background(), sum: sha256.New()} // in the middle of changes it isn't cut short
	if _, err := c.copy(nil, f); err != nil {
		return err
	}
	if c.digest() != want {
		return errForeign
	}
	return nil
}

// note keeps the stat of what has been put in its place.
func (m *mover) note(i int, d *dir, name string) error {
	m.done[i] = true
	if !m.made[i].content() {
		return nil
	}
	st, err := d.lstat(name)
	if err != nil {
		return err
	}
	written := m.made[i]
	written.ctime = st.ctime
	if written.unchanged(&st) {
		m.after[i].ctime = st.ctime
	} else {
		m.after[i].racy = true // someone was quick; the next snapshot looks
	}
	return nil
}

// moved is what a file's stat has got by being put in its place.
type moved struct {
	ctime int64 // 0 where it is what it was
	racy  bool
	perm  Perm // what it has got in its place; 0 where it came with its own
}

// settle decides which of the written files may be believed by their stat: those
// that were written long enough before anyone could reach them.
func (m *mover) settle() {
	for i := range m.made {
		c := &m.made[i]
		if !c.content() {
			continue
		}
		st := stat{mtime: c.mtime, ctime: c.mtime}
		m.after[i].racy = m.after[i].racy || racy(&st, m.start, 0, m.stageOf(m.ops[i].Path).foreign)
	}
}

// stamp brings what carrying the ops out has changed into a new index, in whose
// records that old hasn't nobody else looks yet.
func (m *mover) stamp(ix, old *index) {
	const most = 64 // folders whose names are in tables at once
	open := make(map[string]*openRec)
	for i := range m.ops {
		if !m.done[i] || m.after[i] == (moved{}) {
			continue
		}
		dir, name := split(m.ops[i].Path)
		o := open[dir]
		if o == nil {
			rec := ix.dirs.get(dir)
			if rec == nil || rec == old.dirs.get(dir) {
				continue
			}
			if len(open) == most {
				clear(open)
			}
			o = &openRec{rec: rec}
			open[dir] = o
		}
		at, ok := o.find(name)
		if !ok {
			continue
		}
		if c := &o.rec.ents[at]; c.content() {
			c.racy = c.racy || m.after[i].racy
			if m.after[i].ctime != 0 {
				c.ctime = m.after[i].ctime
			}
		}
	}
}

func notEmpty(err error) bool {
	return errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist)
}
