package cas

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// LayerOptions are what a layer is read with.
type LayerOptions struct {
	// ChatID is the chat whose quota counts.
	ChatID string
	// Parent is the state that the chat has; it may be nil.
	Parent *Manifest
	Limits Limits
}

// LandingPlan is what would land in a workspace, and what would not. The store has the
// content of every entry that Changes and Conflicts name, apart from failed and omitted
// ones, so that [Store.Read] serves a preview. It has changed nothing in the workspace.
type LandingPlan struct {
	// Meta describes the layer.
	Meta *LayerMeta
	// Changes are what would land: removals first, each kind in the order of paths.
	Changes []Change
	// Conflicts are what would not, since the user changed the same.
	Conflicts []Conflict
	// LeftOut are folders and files that land, but are in no state: undo does not bring
	// them back.
	LeftOut []LeftOut
	// Unlanded are what never lands, such as FIFOs.
	Unlanded []Left
	// Torn reports that the system was started again since the call: files may be cut off
	// or empty.
	Torn bool

	s       *Store
	ws      *Workspace
	layer   string
	options LayerOptions
	upper   *tree
	top     *node
	epoch   string
	added   int64
	items   []item
	older   func(*stat) bool // reports whether nothing has changed since the call started
}

// LeftOut counts what lands below a path that states leave out.
type LeftOut struct {
	Path    string
	Reason  string
	Files   int   // written, or added
	Bytes   int64 // of those
	Removed int   // files and folders; a folder that goes as a whole counts as one
}

// Empty reports whether there is nothing to land and no conflict.
func (p *LandingPlan) Empty() bool { return len(p.items) == 0 && len(p.Conflicts) == 0 }

// Folders yields each folder that the layer has, with the names in it that the call wrote or
// removed, or whose content it did. The root is "".
func (p *LandingPlan) Folders() iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		more := true
		p.top.each(func(n *node) {
			if !more || !n.isFolder() {
				return
			}
			names := make([]string, len(n.kids))
			for i, k := range n.kids {
				names[i] = k.Name
			}
			more = yield(n.path, names)
		})
	}
}

// Close releases the layer. The plan can't land after that.
func (p *LandingPlan) Close() {
	if p.upper != nil {
		p.upper.close()
		p.upper = nil
	}
}

// ReadLayer reads what a call wrote into its layer, and plans how that lands in the
// workspace. All processes of the call must have ended, and the overlay must not be
// mounted any more. What the call wrote, and what that replaces, is in the store when
// ReadLayer returns. The caller closes the plan, and keeps other writers of its own out.
func (s *Store) ReadLayer(ctx context.Context, ws *Workspace, layer string, o LayerOptions) (*LandingPlan, error) {
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
	o.Limits = o.Limits.complete()
	p := &LandingPlan{s: s, ws: ws, layer: layer, options: o}
	if err := p.read(ctx, f); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// read reads the layer and compares it with the workspace.
func (p *LandingPlan) read(ctx context.Context, f *folderState) (err error) {
	if p.Meta, err = ReadLayerMeta(p.layer); err != nil {
		return err
	}
	if p.Meta.Path != p.ws.Path {
		return &LayerError{Layer: p.layer, Reason: "it belongs to the workspace " + p.Meta.Path}
	}
	p.Torn = p.Meta.torn()
	if p.upper, p.top, p.Unlanded, err = readUpper(p.layer, p.s.fault); err != nil {
		return err
	}
	return p.compare(ctx, f)
}

// compare brings the plan up to what the workspace has now.
func (p *LandingPlan) compare(ctx context.Context, f *folderState) error {
	t, err := openTree(p.ws.Root, p.s.fault)
	if err != nil {
		return fmt.Errorf("compare layer with %s: %w", p.ws.Path, err)
	}
	defer t.close()
	ix, err := p.index(ctx, f, t, p.s.openIndex)
	if err != nil {
		return err
	}
	err = p.compareWith(ctx, t, ix)
	if ix.fault() != nil { // its records are not of one moment, or one can't be read
		f.index = nil
		if ix, err = p.index(ctx, f, t, p.s.loadIndex); err != nil {
			return err
		}
		err = p.compareWith(ctx, t, ix)
	}
	if err != nil {
		return fmt.Errorf("compare layer with %s: %w", p.ws.Path, err)
	}
	p.s.pause("compared")
	return nil
}

// compareWith is compare with what is known of the workspace.
func (p *LandingPlan) compareWith(ctx context.Context, t *tree, ix *index) (err error) {
	r := &lowerReader{t: t, ix: ix, upper: p.upper, open: make(map[string]*openRec)}
	if r.rules, err = readRules(t, p.ws.Bound); err == nil {
		err = r.root(p.top)
	}
	if err == nil {
		err = p.withOtherNames(r)
	}
	if err == nil {
		err = p.capture(ctx, r, p.options.Limits)
	}
	if err == nil {
		err = p.decide(ctx, r)
	}
	return err
}

// index returns what is known of the workspace. A workspace that was never read is read
// once: nothing of the call is in it yet.
func (p *LandingPlan) index(ctx context.Context, f *folderState, t *tree, load func(context.Context, string) (*index, error)) (*index, error) {
	epoch, err := p.s.epoch()
	if err != nil {
		return nil, err
	}
	if p.epoch != epoch { // what was captured before may have been collected
		p.top.each(func(n *node) {
			n.low = lower{}
			n.Digest = Digest{}
		})
		p.epoch = epoch
	}
	ix, err := p.s.knownBy(ctx, p.ws, f, t, load)
	if err == nil && ix.dirs.get("") == nil {
		_, err = p.s.snapshot(ctx, p.ws, f, SnapshotOptions{
			About: About{ChatID: p.options.ChatID, Source: External}, Parent: p.options.Parent, Limits: p.options.Limits,
		})
		ix = f.index
	}
	if err != nil {
		return nil, err
	}
	f.index = ix
	return ix, nil
}

// decide finds out what can land.
func (p *LandingPlan) decide(ctx context.Context, r *lowerReader) error {
	if st := &p.top.low.st; st.dev != p.Meta.Device || st.ino != p.Meta.Inode {
		return errors.New("another folder has its path now")
	}
	d := &decider{
		ix: r.ix, r: r, broken: make(map[string]bool), t0: p.Meta.T0, noted: p.Meta.Started.UnixNano(),
		strict: p.Meta.clockSet() || remote(r.t.top), start: &startState{s: p.s, ctx: ctx, id: p.Meta.ManifestID},
	}
	for _, n := range p.top.kids {
		d.node(n, around{trusted: true, seen: d.older(&p.top.low.st)})
	}
	if d.whole(); d.start.err != nil {
		return d.start.err
	}
	p.items, p.Conflicts, p.older = d.items, d.conflicts, d.older
	p.Changes, p.LeftOut = nil, nil
	for _, it := range p.items {
		if it.n.omittedBy == "" {
			p.Changes = append(p.Changes, it.shown())
		} else {
			p.leaveOut(it.n)
		}
	}
	removalsFirst(p.Changes)
	slices.SortStableFunc(p.Conflicts, func(a, b Conflict) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// removalsFirst sorts changes for a reader: what goes must not be overlooked.
func removalsFirst(changes []Change) {
	slices.SortStableFunc(changes, func(a, b Change) int {
		switch {
		case (a.New == nil) == (b.New == nil):
			return 0
		case a.New == nil:
			return -1
		}
		return 1
	})
}

// shown returns a change as states have it: content that is not kept is a Failed entry.
func (it *item) shown() Change {
	c := it.c
	if c.New != nil {
		e := it.n.entry()
		c.New = &e
	}
	return c
}

// leaveOut counts a change that lands below a path that states leave out.
func (p *LandingPlan) leaveOut(n *node) {
	k := len(p.LeftOut) - 1
	if k < 0 || p.LeftOut[k].Path != n.omittedBy {
		p.LeftOut = append(p.LeftOut, LeftOut{Path: n.omittedBy, Reason: n.unkept})
		k++
	}
	out := &p.LeftOut[k]
	if n.low.there {
		if n.gone || n.low.isFolder() {
			out.Removed++
		}
	}
	n.each(func(n *node) {
		if !n.gone && n.Kind != Folder {
			out.Files++
			out.Bytes += n.Size
		}
	})
}
