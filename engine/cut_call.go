package engine

import (
	"context"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/toolset"
)

// suspect tells that the folder may hold what a call did which a crash cut off: the
// chat's last answer has one, or a page's call was one, and no state was taken since.
func (c *conversation) suspect() bool {
	if c.parent != c.chat.ActiveLeaf {
		return false
	}
	if c.chat.CutShort {
		return true
	}
	return len(c.path) > 0 && c.path[len(c.path)-1].leftCut(c.chat.ActiveManifest)
}

// leftCut tells that an answer ended in a call that a crash cut off, and that its state
// is still the one that the chat is at.
func (m *Message) leftCut(active string) bool {
	if m.Status != CutShort || m.ManifestID != active {
		return false
	}
	for i := range m.Parts {
		if r := m.Parts[i].Result; m.Parts[i].Kind == provider.ToolResultPart && r != nil && r.Error && r.Text == cutCallResult {
			return true
		}
	}
	return false
}

// takeInCut takes in what a call has left that a crash cut off, with whatever was
// changed since, as a state of its own: a step that can be taken back. It is recorded
// also where nothing has changed, so that what comes later isn't taken for it.
func (e *Engine) takeInCut(ctx context.Context, conv *conversation, ws *toolset.Workspace, w watch) error {
	if !conv.suspect() || conv.chat.ActiveManifest == "" {
		return nil
	}
	snap, err := e.takeState(ctx, ws, cas.SnapshotOptions{
		About:  cas.About{ChatID: conv.chat.ID, ParentID: conv.chat.ActiveManifest, Source: cas.Interrupted},
		Limits: e.o.States, Begin: w.begin, Progress: w.progress,
	})
	if err != nil {
		return stateFault("look at "+ws.Path, err)
	}
	conv.chat.ActiveManifest, conv.chat.CutShort = snap.Manifest.ID, false
	return e.setActive(ctx, conv.chat.ID, snap.Manifest.ID)
}

// takeInLeft is takeInCut of the branch that a turn leaves, whose end conv hasn't.
func (e *Engine) takeInLeft(ctx context.Context, conv *conversation, ws *toolset.Workspace) error {
	leaf, err := e.loadLeaf(ctx, conv.chat.ID)
	if err != nil {
		return err
	}
	if err := e.takeInCut(ctx, leaf, ws, watch{}); err != nil {
		return err
	}
	conv.chat.ActiveManifest, conv.chat.CutShort = leaf.chat.ActiveManifest, leaf.chat.CutShort
	return nil
}
