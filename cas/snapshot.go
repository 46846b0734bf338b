package cas

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/kv"
)

// Limits bound what a snapshot takes in.
type Limits struct {
	// MaxFile is the size from which a file's content isn't kept, and a Failed
	// entry stands for it; 0 is 256 MB.
	MaxFile int64
	// Chat and Total bound the bytes that a chat, and all chats, have brought
	// into the store; 0 is no bound.
	Chat, Total int64
	// KeepFree is what must be left on the disk; 0 is 256 MB, less than nothing
	// asks for no more than the store itself needs.
	KeepFree int64
}

const (
	defaultMaxFile  = 256 << 20
	defaultKeepFree = 256 << 20
)

func (l Limits) complete() Limits {
	if l.MaxFile == 0 {
		l.MaxFile = defaultMaxFile
	}
	switch {
	case l.KeepFree == 0:
		l.KeepFree = defaultKeepFree
	case l.KeepFree < 0:
		l.KeepFree = 0
	}
	return l
}

// Estimate is what a snapshot is going to read.
type Estimate struct {
	First bool // nothing is known of the folder yet
	Files int
	Bytes int64
}

// SnapshotOptions say what a snapshot is recorded as.
type SnapshotOptions struct {
	About
	// Parent is the state that the chat had before; a snapshot that finds that
	// very state records nothing and gives Parent. It may be nil.
	Parent *Manifest
	Limits Limits
	// Begin is called before files are read, if there are any to read; an error
	// of it ends the snapshot. It may be nil.
	Begin func(Estimate) error
	// Progress is called while files are read, by several goroutines. It may
	// be nil.
	Progress func(files int, bytes int64)

	restoring *heldState // the state that is going to be restored; nil where none is
}

// Snapshot is what a snapshot found.
type Snapshot struct {
	Manifest *Manifest
	New      bool  // false: the folder is as Parent has it
	Read     int64 // files whose content was read
	Added    int64 // bytes that the store didn't have
	Left     []Left

	foreign string // an entry that belongs to another user or group
}

// Left is a path that isn't in a manifest, or isn't as content.
type Left struct {
	Path   string
	Kind   Kind // Failed, Omitted or Special
	Reason string
	// Lost tells of a restore that there was something which no state has, so that
	// nothing can bring it back.
	Lost bool
}

// maxLeft bounds Snapshot.Left; Manifest.Failed counts all.
const maxLeft = 1000

// Snapshot takes a workspace's state into the store and records it. It changes
// nothing in the folder, unless a restore was cut short there, which it takes
// back first. A failed snapshot has recorded nothing. The caller keeps other
// writers of its own out of the folder; what others change meanwhile is taken
// as it is met.
func (s *Store) Snapshot(ctx context.Context, ws *Workspace, o SnapshotOptions) (*Snapshot, error) {
	f, release, err := s.folder(ctx, ws.key())
	if err != nil {
		return nil, err
	}
	defer release()
	unshare, err := s.share(ctx)
	if err != nil {
		return nil, err
	}
	defer unshare()
	if err := s.recover(ctx, ws, f); err != nil {
		return nil, err
	}
	return s.snapshot(ctx, ws, f, o)
}

// Look is Snapshot of a folder in which a restore was cut short, and reverts nothing:
// the state is that of the files as they are, without the restore's own working files.
// It is not recorded and has no id; what it names stays in the store until the next
// collection.
func (s *Store) Look(ctx context.Context, ws *Workspace, o SnapshotOptions) (*Manifest, error) {
	f, release, err := s.folder(ctx, ws.key())
	if err != nil {
		return nil, err
	}
	defer release()
	unshare, err := s.share(ctx)
	if err != nil {
		return nil, err
	}
	defer unshare()
	ix, _, _, err := s.read(ctx, ws, f, &o)
	if err != nil {
		return nil, err
	}
	j, err := s.journal(ctx, ws.key())
	if err != nil {
		return nil, err
	}
	e := newEditor(ix)
	if j != nil {
		for _, stage := range j.Stages {
			e.drop(stage)
		}
	}
	for _, name := range ix.dirs.get("").names() {
		if strings.HasPrefix(name, stagePrefix) {
			e.drop(name)
		}
	}
	b := &builder{old: ix, found: e.finish(), edits: true, now: s.now().UnixNano()}
	ix = b.build()
	if err := s.keepObjects(ctx, func(batch *kv.Batch) error { return s.writeTrees(ctx, batch, b.trees) }); err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", ws.Path, err)
	}
	m := s.newManifest(ix, o.About, o.Parent)
	m.ID = ""
	return m, nil
}

// snapshot is Snapshot with the folder's state and the collector locked.
func (s *Store) snapshot(ctx context.Context, ws *Workspace, f *folderState, o SnapshotOptions) (*Snapshot, error) {
	ix, old, out, err := s.read(ctx, ws, f, &o)
	if err != nil {
		return nil, err
	}
	s.pause("kept")
	changes := ix.changes(f.stored(old))
	if err := s.record(ctx, ix, out, o, func(w kv.Writer) error { return s.writeCache(w, ws.key(), changes) }); err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", ws.Path, err)
	}
	if !out.New && len(changes) > 0 {
		if err := s.kv.Batch(ctx, func(b *kv.Batch) error { return s.writeCache(b, ws.key(), changes) }); err != nil {
			return nil, fmt.Errorf("snapshot %s: %w", ws.Path, err)
		}
	}
	f.index = ix
	out.Left = ix.left()
	if err := s.noteForeign(ctx, ws, f, out.foreign); err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", ws.Path, err)
	}
	return out, nil
}

// read stores a folder's contents and trees, and returns the index of what it has read
// and the one that was known before.
func (s *Store) read(ctx context.Context, ws *Workspace, f *folderState, o *SnapshotOptions) (ix, old *index, out *Snapshot, err error) {
	o.Limits = o.Limits.complete()
	t, err := openTree(ws.Root, s.fault)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("snapshot %s: %w", ws.Path, err)
	}
	defer t.close()
	if old, err = s.known(ctx, ws, f, t); err != nil {
		return nil, nil, nil, err
	}
	scan := &scanner{
		t: t, old: old, maxFile: o.Limits.MaxFile, now: s.now().UnixNano(),
		lists: listsFaithfully(t.top),
	}
	if scan.rules, err = readRules(t, ws.Bound); err != nil {
		return nil, nil, nil, fmt.Errorf("snapshot %s: %w", ws.Path, err)
	}
	scan.held = o.held(ctx, s, old)
	found, err := scan.walk(ctx)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("snapshot %s: %w", ws.Path, err)
	}
	scan.link(found)
	s.pause("walked")
	if ix, out, err = s.takeIn(ctx, scan, found, o); err != nil {
		return nil, nil, nil, fmt.Errorf("snapshot %s: %w", ws.Path, err)
	}
	out.foreign = scan.foreign
	return ix, old, out, nil
}

// held returns the states that decide against the rules.
func (o *SnapshotOptions) held(ctx context.Context, s *Store, old *index) held {
	h := held{s: s, ctx: ctx, old: old}
	if o.Parent != nil {
		h.states = append(h.states, heldState{root: o.Parent.Root})
	}
	if o.restoring != nil {
		h.states = append(h.states, *o.restoring)
	}
	return h
}

// known returns what is known of the folder, as far as it can be relied on. All of its records
// have been read.
func (s *Store) known(ctx context.Context, ws *Workspace, f *folderState, t *tree) (*index, error) {
	if f.index != nil && f.index.complete() != nil {
		f.index = nil
	}
	return s.knownBy(ctx, ws, f, t, s.loadIndex)
}

// knownBy is known with the function that reads an index which is not in memory.
func (s *Store) knownBy(ctx context.Context, ws *Workspace, f *folderState, t *tree, load func(context.Context, string) (*index, error)) (*index, error) {
	epoch, err := s.epoch()
	if err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", ws.Path, err)
	}
	d, err := t.dir("")
	if err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", ws.Path, err)
	}
	defer d.close()
	top, err := d.self()
	if err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", ws.Path, err)
	}
	ix := f.index
	if ix == nil || ix.epoch != epoch {
		if ix, err = load(ctx, ws.key()); err != nil {
			return nil, err
		}
	}
	other := ix.root.ino != top.ino || ix.root.dev != top.dev
	if (other || ix.epoch != epoch) && ix.complete() != nil { // each record is looked at
		if ix, err = s.loadIndex(ctx, ws.key()); err != nil {
			return nil, err
		}
		other = ix.root.ino != top.ino || ix.root.dev != top.dev
	}
	switch {
	case other:
		// Another folder has the name now; inodes of another file system may
		// be the same by chance.
		ix = &index{epoch: epoch, root: top, stale: ix}
	case ix.epoch != epoch:
		if ix, err = s.stillThere(ctx, ix, epoch); err != nil {
			return nil, err
		}
	}
	return ix, nil
}

// stored is the index as the store has it.
func (f *folderState) stored(ix *index) *index {
	if ix.stale != nil {
		return ix.stale
	}
	return ix
}

// stillThere makes an index of another epoch one of this epoch, without the
// folders whose content was collected since.
func (s *Store) stillThere(ctx context.Context, ix *index, epoch string) (*index, error) {
	kept := make(map[string]*dirRec, ix.dirs.n)
	paths := make([]string, 0, ix.dirs.n)
	for path := range ix.dirs.all() {
		paths = append(paths, path)
	}
	const atOnce = 100 // some ten milliseconds
	for chunk := range slices.Chunk(paths, atOnce) {
		err := s.kv.View(ctx, func(tx *kv.Tx) error {
			for _, path := range chunk {
				r := ix.dirs.get(path)
				ok, err := s.hasAll(tx, r)
				if err != nil {
					return err
				}
				if ok {
					kept[path] = r
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return &index{epoch: epoch, root: ix.root, dirs: foldersOf(kept), stale: ix}, nil
}

// hasAll tells whether the store has a folder's tree and all its contents.
func (s *Store) hasAll(tx *kv.Tx, r *dirRec) (bool, error) {
	if ok, err := s.trees.Has(tx, r.tree.key()); !ok || err != nil {
		return false, err
	}
	for i := range r.ents {
		e := &r.ents[i].Entry
		if !e.content() {
			continue
		}
		if e.Size > smallBlob {
			if !s.hasFile(e.Digest, e.Size) {
				return false, nil
			}
			continue
		}
		if ok, err := s.blobs.Has(tx, e.Digest.key()); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// takeIn reads what changed, and keeps blobs and trees.
func (s *Store) takeIn(ctx context.Context, scan *scanner, found map[string]*folderScan, o *SnapshotOptions) (*index, *Snapshot, error) {
	c := &capturer{s: s, scan: scan, limits: o.Limits, found: present{s: s}, foreign: remote(scan.t.top), moved: func(int, int64) {}}
	if o.Progress != nil {
		c.moved = o.Progress
	}
	b := &builder{old: scan.old, found: found}
	est := estimate(scan, found)
	if est.Files > 0 && o.Begin != nil {
		if err := o.Begin(est); err != nil {
			return nil, nil, err
		}
	}
	if est.Files > 0 {
		// Something will be written: a session that was opened for the first
		// look alone would have to be closed for that.
		if err := s.kv.Update(ctx, func(*kv.Tx) error { return nil }); err != nil {
			return nil, nil, err
		}
		if err := s.accounts(ctx, c, o.ChatID); err != nil {
			return nil, nil, err
		}
	}
	var ix *index
	write := func(batch *kv.Batch) error {
		if est.Files > 0 {
			if err := c.run(ctx, batch, found); err != nil {
				return err
			}
		}
		b.now = s.now().UnixNano()
		ix = b.build()
		return s.writeTrees(ctx, batch, b.trees)
	}
	err := s.keepObjects(ctx, write)
	return ix, &Snapshot{Read: c.read.Load(), Added: c.added.Load()}, err
}

// keepObjects runs write and keeps the blobs and trees that it puts. They need no sync
// of their own, nor do those that write has found in the store: after a power cut that
// has what an operation recorded, it also has all that was written before, by whomever.
func (s *Store) keepObjects(ctx context.Context, write func(*kv.Batch) error) error {
	return s.kv.Batch(ctx, write)
}

// accounts reads what counts against the quotas already.
func (s *Store) accounts(ctx context.Context, c *capturer, chatID string) error {
	if c.limits.Chat <= 0 && c.limits.Total <= 0 {
		return nil
	}
	return s.kv.View(ctx, func(tx *kv.Tx) error {
		if chatID != "" {
			u, err := s.used(tx, chatID)
			if err != nil {
				return err
			}
			c.used = u.Bytes
		}
		u, err := s.used(tx, allChats)
		c.all = u.Bytes
		return err
	})
}

func estimate(scan *scanner, found map[string]*folderScan) Estimate {
	e := Estimate{First: scan.old.dirs.n == 0}
	for _, f := range found {
		e.Files += len(f.todo)
		e.Bytes += f.todoBytes
	}
	return e
}

// writeTrees keeps the trees that the store doesn't have.
func (s *Store) writeTrees(ctx context.Context, b *kv.Batch, trees []newTree) error {
	for chunk := range slices.Chunk(trees, groupBlobs) {
		has := make([]bool, len(chunk))
		err := s.kv.View(ctx, func(tx *kv.Tx) (err error) {
			for i := range chunk {
				if has[i], err = s.trees.Has(tx, chunk[i].digest.key()); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for i, t := range chunk {
			if has[i] {
				continue
			}
			if err := s.putTree(b, t); err != nil {
				return err
			}
		}
		s.pause("trees")
	}
	return nil
}

// record makes the manifest, unless the parent is the same state. cache writes
// what has changed in the stat cache; it goes with the manifest if it fits.
func (s *Store) record(ctx context.Context, ix *index, out *Snapshot, o SnapshotOptions, cache func(kv.Writer) error) error {
	top := ix.dirs.get("")
	if top == nil {
		return errors.New("the folder is gone")
	}
	if o.Parent != nil && o.Parent.Root == top.tree {
		out.Manifest = o.Parent
		return nil
	}
	m := s.newManifest(ix, o.About, o.Parent)
	m.Added = out.Added
	out.Manifest, out.New = m, true
	err := s.commit(ctx, m, func(tx *kv.Tx) error { return cache(tx) })
	var big *kv.TooBigError
	if errors.As(err, &big) {
		// The cache may be written before: all that it names is in the store.
		if err = s.kv.Batch(ctx, func(b *kv.Batch) error { return cache(b) }); err == nil {
			err = s.commit(ctx, m, nil)
		}
	}
	return err
}

// newManifest makes the record of an index.
func (s *Store) newManifest(ix *index, about About, parent *Manifest) *Manifest {
	sum := &ix.dirs.sum
	state := Manifest{Root: ix.dirs.get("").tree, Files: sum.files, Bytes: sum.bytes, Failed: sum.failed}
	m := s.manifestAs(&state, &about)
	if m.ParentID == "" && parent != nil {
		m.ParentID = parent.ID
	}
	return m
}

// manifestAs makes another record of a state.
func (s *Store) manifestAs(state *Manifest, about *About) *Manifest {
	now := s.now().UTC()
	m := &Manifest{
		ID: about.ID, ChatID: about.ChatID, ParentID: about.ParentID, Root: state.Root,
		CreatedAt: now, Source: about.Source, SourceRef: about.SourceRef, Steps: about.Steps, SinceID: about.SinceID,
		Files: state.Files, Bytes: state.Bytes, Failed: state.Failed, Complete: state.Failed == 0,
		Foreign: state.Foreign, Shared: about.Shared,
	}
	if m.ID == "" {
		m.ID = s.newID(now)
	}
	return m
}

// left lists what isn't in the index as content.
func (ix *index) left() []Left {
	if ix.dirs.sum.others == 0 {
		return nil
	}
	var out []Left
	for path, r := range ix.dirs.all() {
		if r.others == 0 {
			continue
		}
		for i := range r.ents {
			if e := &r.ents[i].Entry; !e.kept() && len(out) < maxLeft {
				out = append(out, Left{Path: join(path, e.Name), Kind: e.Kind, Reason: e.Text})
			}
		}
	}
	slices.SortFunc(out, func(a, b Left) int { return strings.Compare(a.Path, b.Path) })
	return out
}
