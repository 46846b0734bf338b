package cas

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
)

// What no state has, a crash must not lose either: the journal names two trees, and such
// paths are in neither. The stage lists them, with the inodes of the files that were to
// come to their places, so that each can be put back by its names alone.

// unkeptList is the name of that list in a stage.
const unkeptList = "unkept"

// unkeptPath is a line of the list.
type unkeptPath struct {
	Path []byte `json:"path"` // names are bytes, and JSON has none
	// Ino, Size and Mtime are those of what was to come to the path; Ino is 0 for nothing.
	Ino   uint64 `json:"ino,omitempty"`
	Size  int64  `json:"size,omitempty"`
	Mtime int64  `json:"mtime,omitempty"`
}

// unkept reports whether a landing has paths that no state has.
func (l *landing) unkept() bool {
	for i := range l.todo.ops {
		if !l.todo.ops[i].n.kept() {
			return true
		}
	}
	return false
}

// finishUnkept is finish where the stage has content that the store does not have: it is
// removed only when the disk has the note that nothing is to be taken back any more.
func (r *restore) finishUnkept(ctx context.Context, t *tree, m *mover, rec *recording) (*Manifest, error) {
	if err := r.keep(ctx, t, m, rec); err != nil {
		return nil, err
	}
	r.s.pause("kept")
	r.journal.Done = true
	err := r.s.changeJournal(ctx, r.journal)
	if err == nil {
		err = r.s.kv.Sync(ctx)
	}
	r.s.pause("done")
	if err == nil {
		err = r.removeStages(t)
	}
	if err != nil {
		return nil, err
	}
	r.s.pause("cleaned")
	return rec.man, r.s.endJournal(ctx, r.journal, true)
}

// noteUnkept writes the lists of the stages that are filled, each if it has any paths. They
// are on the disk when noteUnkept returns.
func (m *mover) noteUnkept() error {
	if m.lands == nil {
		return nil
	}
	lines := make(map[*stage][]byte)
	roots := make(map[string]string)
	for i := range m.ops {
		o := &m.ops[i]
		dir, name := m.place(i, roots)
		if o.New != nil && o.New.Kind == Folder {
			roots[o.Path] = join(dir, name)
		}
		if o.n == nil || o.n.kept() || o.PermsOnly() || m.skips(i) {
			continue
		}
		u := unkeptPath{Path: []byte(o.Path)}
		if o.New != nil {
			st, err := m.statAt(dir, name)
			if err != nil {
				return err
			}
			u.Ino, u.Size, u.Mtime = st.ino, st.size, st.mtime
		}
		line, err := json.Marshal(u)
		if err != nil {
			return err
		}
		s := m.stageOf(o.Path)
		lines[s] = append(append(lines[s], line...), '\n')
	}
	for s, text := range lines {
		f, err := s.dir.create(unkeptList, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(text)
		if err = errors.Join(err, f.Sync(), f.Close(), s.dir.sync()); err != nil {
			return err
		}
	}
	return nil
}

func (m *mover) statAt(dir, name string) (stat, error) {
	d, err := m.t.dir(dir)
	if err != nil {
		return stat{}, err
	}
	defer d.close()
	return d.lstat(name)
}

// putBackUnkept reverts what a landing that was cut short has done to the paths of its
// list. What the user has changed since stays as it is.
func putBackUnkept(t *tree, stage string) error {
	d, err := t.dir(stage)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.close()
	f, err := d.open(unkeptList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // a line that is cut off belongs to a landing that had not started
		}
		if err != nil {
			return err
		}
		var u unkeptPath
		if err := json.Unmarshal(line, &u); err != nil {
			return err
		}
		if err := u.putBack(t, d); err != nil {
			return err
		}
	}
}

// putBack reverts one path. Its folder may be gone, or be the user's by now.
func (u *unkeptPath) putBack(t *tree, stage *dir) error {
	path := string(u.Path)
	up, name := split(path)
	d, err := t.dir(up)
	if gone(err) || errors.Is(err, errLink) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.close()
	held := heldName("n", path)
	is, err := d.lstat(name)
	if err == nil && u.is(&is) {
		if _, herr := stage.lstat(held); herr == nil {
			err = writable(d, func() error { return stage.exchange(held, d, name) })
		} else {
			err = writable(d, func() error { return d.rename(name, stage, held) })
		}
		if err != nil {
			return err
		}
		_, err = d.lstat(name)
	}
	if !gone(err) {
		return err
	}
	was := heldName("o", path)
	if _, err := stage.lstat(was); err != nil {
		return nil
	}
	return writable(d, func() error { return stage.moveNew(was, d, name) })
}

// is reports whether a path has what was to come there, and it has not changed since.
func (u *unkeptPath) is(st *stat) bool {
	return u.Ino != 0 && st.ino == u.Ino && (st.form == folderForm || st.size == u.Size && st.mtime == u.Mtime)
}
