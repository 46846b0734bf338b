package engine

import (
	"context"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/toolset"
)

// suspect tells that the folder may hold what a call did after which no state is
// known: a crash cut it off, or the state couldn't be kept. It was the last of the
// chat's last answer, or a page's, and no state was taken since.
func (c *conversation) suspect() bool {
	if c.parent != c.chat.ActiveLeaf {
		return false
	}
	if c.chat.CutShort || len(c.path) == 0 {
		return c.chat.CutShort
	}
	leaf := &c.path[len(c.path)-1]
	return leaf.StateUnknown && leaf.ManifestID == c.chat.ActiveManifest
}

// takeInCut takes in what such a call has left, with whatever was changed since, as a
// state of its own: a step that can be taken back. It is recorded also where nothing
// has changed, so that what comes later isn't taken for it.
func (s *Store) takeInCut(ctx context.Context, conv *conversation, ws *toolset.Workspace, w watch) error {
	if !conv.suspect() || conv.chat.ActiveManifest == "" {
		return nil
	}
	snap, err := s.takeState(ctx, ws, cas.SnapshotOptions{
		About:  cas.About{ChatID: conv.chat.ID, ParentID: conv.chat.ActiveManifest, Source: cas.Interrupted},
		Limits: s.o.States, Begin: w.begin, Progress: w.progress,
	})
	if err != nil {
		return stateFault("look at "+ws.Path, err)
	}
	conv.chat.ActiveManifest, conv.chat.CutShort = snap.Manifest.ID, false
	return s.setActive(ctx, conv.chat.ID, snap.Manifest.ID)
}

// takeInLeft is takeInCut of the branch that a turn leaves, whose end conv hasn't.
func (s *Store) takeInLeft(ctx context.Context, conv *conversation, ws *toolset.Workspace) error {
	leaf, err := s.loadBy(ctx, conv.chat.ID, "", leafOnly)
	if err != nil {
		return err
	}
	if err := s.takeInCut(ctx, leaf, ws, watch{}); err != nil {
		return err
	}
	conv.chat.ActiveManifest, conv.chat.CutShort = leaf.chat.ActiveManifest, leaf.chat.CutShort
	return nil
}
