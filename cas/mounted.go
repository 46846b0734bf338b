package cas

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/mounts"
)

// A name cannot be renamed from one mount to another, not even between two of the same file
// system. What comes to a path below a mount point is therefore prepared in a stage at the root
// of what is mounted there, and what was there is kept in it until all is done.

// mountPoint is a path of the workspace on which something is mounted.
type mountPoint struct {
	path string
	why  string // the reason why nothing below can be changed; "" is none
}

// mountsIn returns what is mounted in a workspace, a mount ahead of those that are mounted in
// it. What another mount hides is not returned.
func (s *Store) mountsIn(ws *Workspace) ([]mountPoint, error) {
	list := mounts.Below(ws.Path)
	if len(list) == 0 {
		return nil, nil
	}
	t, err := openTree(ws.Root, s.fault)
	if err != nil {
		return nil, err
	}
	defer t.close()
	var points []mountPoint
	for _, m := range list {
		p := mountPoint{path: strings.TrimPrefix(m.At, strings.TrimSuffix(ws.Path, "/")+"/")}
		if p.why, err = t.mountRefuses(p.path, m); err != nil {
			return nil, err
		}
		if p.why != reasonHidden {
			points = append(points, p)
		}
	}
	slices.SortFunc(points, func(a, b mountPoint) int { return strings.Compare(a.path, b.path) })
	return points, nil
}

// The reasons why nothing can be changed at a mount point, or below it.
const (
	reasonMount    = "something is mounted there, or uses it"
	reasonDevice   = "it lies on another file system than the folder"
	reasonReadOnly = "it is on a file system that is mounted read-only"
	reasonClosed   = "the top folder of the file system that is mounted there can't be written to"
	reasonHidden   = "another file system hides it"
)

// mountRefuses returns the reason why nothing below a mount point can be changed, or "".
func (t *tree) mountRefuses(path string, m mounts.Mount) (why string, err error) {
	d, err := t.dir(path)
	switch {
	case gone(err):
		return reasonHidden, nil
	case errors.Is(err, errLink):
		return reasonMount, nil // a file, or a link in place of a folder above
	case err != nil:
		return "", err
	}
	defer d.close()
	id, writable := d.mount()
	switch {
	case id != 0 && id != m.ID:
		return reasonHidden, nil
	case m.ReadOnly:
		return reasonReadOnly, nil
	case !writable:
		return reasonClosed, nil
	}
	return "", nil
}

// mountOf returns the mount point that a path is below of, or "" for the workspace's own.
func mountOf(points []mountPoint, path string) (at mountPoint) {
	for _, m := range points {
		if path != m.path && within(path, m.path) && len(m.path) > len(at.path) {
			at = m
		}
	}
	return at
}

// mounted returns the mount point that keeps a path from being changed, and why, or "". The
// permission bits of what is mounted can be changed.
func (p *planner) mounted(c Change) (at, why string) {
	for _, m := range p.mounts {
		switch {
		case c.Path == m.path && c.PermsOnly() && (m.why == "" || m.why == reasonMount):
		case c.Path == m.path && c.PermsOnly():
			return m.path, m.why
		case c.New == nil && c.Path != m.path && p.keep.covers(m.path): // then the folder stays, too
		case c.Path == m.path, within(m.path, c.Path) && (c.New == nil || c.New.Kind != Folder):
			return m.path, reasonMount // neither it nor the folder that it is in can be removed
		}
	}
	if m := mountOf(p.mounts, c.Path); m.why != "" {
		return m.path, m.why
	}
	return "", ""
}

// stage is a folder in which new files are prepared for one mount, and in which replaced ones
// are kept.
type stage struct {
	mount   string // the mount point; "" is the workspace's own
	path    string
	dir     *dir // nil where nothing is staged
	foreign bool // the clock of its file system is not this machine's
}

// stageOf returns the stage of a path.
func (m *mover) stageOf(path string) *stage {
	if len(m.stages) == 1 {
		return &m.stages[0]
	}
	at := mountOf(m.mounts, path).path
	for i := range m.stages {
		if m.stages[i].mount == at {
			return &m.stages[i]
		}
	}
	return &m.stages[0] // only permission bits change there
}

// staged returns the mount points below which something is going to be moved. The
// workspace's own mount is one of them if nothing else is.
func (m *mover) staged() (at []string) {
	if len(m.mounts) == 0 {
		return []string{""}
	}
	for i := range m.ops {
		if o := &m.ops[i]; !o.PermsOnly() && !o.staged {
			if p := mountOf(m.mounts, o.Path).path; !slices.Contains(at, p) {
				at = append(at, p)
			}
		}
	}
	if len(at) == 0 {
		return []string{""}
	}
	return at
}

// makeStages makes a stage for each mount in which something is going to be moved. The journal
// on the disk names all of them before the first is made.
func (r *restore) makeStages(ctx context.Context, m *mover) error {
	name := r.journal.Stages[0]
	m.stages = []stage{{path: name, foreign: remote(m.t.top)}}
	at := m.staged()
	for _, mount := range at {
		if mount != "" {
			m.stages = append(m.stages, stage{mount: mount, path: join(mount, name)})
			r.journal.Stages = append(r.journal.Stages, join(mount, name))
		}
	}
	if len(m.stages) > 1 {
		if err := r.s.changeJournal(ctx, r.journal); err != nil {
			return err
		}
	}
	for i := range m.stages {
		s := &m.stages[i]
		if !slices.Contains(at, s.mount) {
			continue
		}
		if err := m.openStage(s); err != nil {
			if err = m.refused(s, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// openStage makes the folder of a stage. What is private must not be open to other users
// while it is there.
func (m *mover) openStage(s *stage) error {
	err := m.makeFolder(s.path, 0o700)
	if err != nil {
		return err
	}
	if s.dir, err = m.t.dir(s.path); err != nil || s.mount == "" {
		return err
	}
	f, err := s.dir.open(".")
	if err != nil {
		return err
	}
	s.foreign = remote(f)
	return f.Close()
}

// refused judges the error of making a stage below a mount point. A landing continues without
// the changes there.
func (m *mover) refused(s *stage, err error) error {
	if s.mount == "" {
		return err
	}
	err = &effectError{s.mount, err}
	if m.lands == nil {
		return err
	}
	for i := range m.ops {
		if o := &m.ops[i]; o.PermsOnly() || m.dead[i] || m.stageOf(o.Path) != s {
			continue
		}
		if late := m.lateAt(i, err); late != nil {
			return late
		}
	}
	return nil
}

// roomFor checks that each file system has room for what is to be written to it.
func (r *restore) roomFor() error {
	const margin = 1 << 20 // for folders and the file system's own
	need := make(map[string]int64)
	for i := range r.todo.ops {
		if o := &r.todo.ops[i]; o.New != nil && o.New.content() && !o.PermsOnly() {
			need[mountOf(r.mounts, o.Path).path] += o.New.Size
		}
	}
	for at, bytes := range need {
		free, _, err := kv.Free(filepath.Join(r.ws.Path, filepath.FromSlash(at)))
		if err == nil && bytes > 0 && free < bytes+margin {
			return &SpaceError{Free: free, Need: bytes + margin}
		}
	}
	return nil // a file system that doesn't report that refuses while the stage is filled
}

// checkStage refuses what is not the path of a stage: that is removed with all that is in it.
func checkStage(path string) error {
	up, name := split(path)
	ok := strings.HasPrefix(name, stagePrefix)
	for part := range strings.SplitSeq(up, "/") {
		ok = ok && (up == "" || part != "" && part != "." && part != "..")
	}
	if !ok {
		return fmt.Errorf("%.80q is not a folder of a restore", path)
	}
	return nil
}
