package cas

import (
	"context"
	"math"
	"time"

	"github.com/fettle-cli/fettle/internal/kv"
)

// recover takes back what a restore has left behind that was cut short. All that
// is found, its stage included, is taken into the store first. A path that is
// as the restore wanted it becomes what it was before; one that is neither is
// someone's work of the time since and stays.
func (s *Store) recover(ctx context.Context, ws *Workspace, f *folderState) error {
	j, err := s.journal(ctx, ws.key())
	if err == nil && j != nil {
		err = s.takeBack(ctx, ws, f, j)
	}
	if err != nil {
		return &UnfinishedError{Path: ws.Path, Err: err}
	}
	return nil
}

func (s *Store) takeBack(ctx context.Context, ws *Workspace, f *folderState, j *unfinished) error {
	t, err := openTree(ws.Root, s.fault)
	if err != nil {
		return err
	}
	defer t.close()
	r := &restore{
		s: s, ws: ws, f: f, before: j.Target, target: j.Before, journal: j,
		durable: func() error { return nil },
	}
	if j.Done {
		return s.recovered(ctx, r, r.cleanUp(ctx, t, true))
	}
	if err := s.kv.Update(ctx, func(tx *kv.Tx) error { return s.unrecord(tx, j.Record) }); err != nil {
		return err
	}
	for _, stage := range j.Stages {
		if err := putBackUnkept(t, stage); err != nil {
			return err
		}
	}
	about := About{ChatID: j.ChatID, Source: Interrupted}
	takeAll := Limits{MaxFile: math.MaxInt64, KeepFree: -1} // what isn't kept here would be lost
	if _, err := s.snapshot(ctx, ws, f, SnapshotOptions{About: about, Limits: takeAll}); err != nil {
		return err
	}
	if r.mounts, err = s.mountsIn(ws); err != nil {
		return err
	}
	p := &planner{bound: ws.Bound}
	for c, err := range s.Diff(ctx, j.Target, j.Before) {
		if err != nil {
			return err
		}
		r.backwards(p, c)
	}
	if r.todo = p.plan; len(r.todo.blocked) > 0 {
		return &ConflictError{Paths: r.todo.blocked}
	}
	if err := r.linkGroups(ctx); err != nil {
		return err
	}
	if len(r.todo.ops) == 0 {
		return s.recovered(ctx, r, r.cleanUp(ctx, t, false))
	}
	j.Stages = append([]string{stagePrefix + s.newID(s.now())}, j.Stages...)
	if err := s.changeJournal(ctx, j); err != nil {
		return err
	}
	_, _, err = r.move(ctx, t, &recording{r: r})
	return s.recovered(ctx, r, err)
}

// recovered reports what was done about a restore that was cut short, unless err is the
// reason why nothing could be done.
func (s *Store) recovered(ctx context.Context, r *restore, err error) error {
	if err == nil {
		s.onRecover(ctx, Recovery{Cut: r.journal.cut(), Changes: changesOf(r.todo.ops), Left: r.todo.left})
	}
	return err
}

// Cut is a restore that was cut short: the process that did it was killed.
type Cut struct {
	Path    string // the folder
	ChatID  string
	Doing   string // RestoreOptions.Doing; empty where an older program began it
	Started time.Time
	// Done reports that all files have been restored, so that the restore is finished
	// and not reverted.
	Done bool
	// After is the tree that the folder gets when that is done, but for what others
	// have changed since.
	After Digest
}

// Recovery is what was done about a Cut.
type Recovery struct {
	Cut
	// Changes are those that took it back, Left the paths that were left alone, since
	// others have changed them since.
	Changes []Change
	Left    []Left
}

func (j *unfinished) cut() Cut {
	return Cut{Path: j.Path, ChatID: j.ChatID, Doing: j.Doing, Started: j.Started, Done: j.Done, After: j.after()}
}

// after is the tree that the folder gets when the restore is reverted, or finished.
func (j *unfinished) after() Digest {
	if j.Done {
		return j.Target
	}
	return j.Before
}

// Cuts returns the restores that were started and have not ended. One of them may be
// under way: the caller keeps its chat and its folder locked, or reports that.
func (s *Store) Cuts(ctx context.Context) ([]Cut, error) {
	js, err := s.legibleJournals(ctx)
	if err != nil {
		return nil, err
	}
	cuts := make([]Cut, len(js))
	for i, j := range js {
		cuts[i] = j.cut()
	}
	return cuts, nil
}

// Recover reverts, or finishes, a restore of the folder that was cut short. It does
// nothing if there is none.
func (s *Store) Recover(ctx context.Context, ws *Workspace) error {
	f, release, err := s.folder(ctx, ws.key())
	if err != nil {
		return err
	}
	defer release()
	unshare, err := s.share(ctx)
	if err != nil {
		return err
	}
	defer unshare()
	return s.recover(ctx, ws, f)
}

// backwards plans what takes one change of a restore back. c goes from the state
// that the restore wanted to the one that it found.
func (r *restore) backwards(p *planner, c Change) {
	p.leaveScopes(c.Path)
	if p.skipping {
		return
	}
	var now *Entry
	if e, ok := r.f.index.lookup(c.Path); ok {
		now = &e.Entry
	}
	held := r.held(c)
	switch {
	case c.PermsOnly() && c.Old.Kind == Folder:
		if now == nil || now.Kind != Folder || !now.Perm.agrees(c.Old.Perm) {
			return // it has not changed yet, or others have changed it since
		}
	case alike(now, c.Old):
		if held != nil {
			c.New = held // someone's last edit, moved away before it was looked at
		}
	case alike(now, c.New):
		return
	case now == nil && held != nil:
		c.New = held
	case now == nil && c.Old != nil && c.New != nil && (c.Old.Kind == Folder || c.New.Kind == Folder):
		// between the removal of the one and the coming of the other
	default:
		p.leave(c, "someone else changed it since")
		return
	}
	p.take(Change{Path: c.Path, Old: now, New: c.New})
}

// alike compares what is there with what a state has. Folders are compared by
// what is in them.
func alike(now, e *Entry) bool {
	if now == nil || e == nil {
		return now == nil && e == nil
	}
	return now.Same(*e) || now.Kind == Folder && e.Kind == Folder
}

// held finds what the cut-short restore has moved away from a path, unless that
// is what it had written itself.
func (r *restore) held(c Change) *Entry {
	for _, stage := range r.journal.Stages {
		for _, letter := range []string{"o", "n"} {
			e, ok := r.f.index.lookup(join(stage, heldName(letter, c.Path)))
			if !ok || e.Kind == Folder || !e.kept() {
				continue
			}
			_, e.Name = split(c.Path)
			if letter == "n" && (c.New == nil || c.Old != nil && e.Same(*c.Old)) {
				continue // it hasn't been moved to its place
			}
			return &e.Entry
		}
	}
	return nil
}
