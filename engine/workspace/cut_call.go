package workspace

import (
	"context"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// takeInCut takes in what such a call has left, with whatever was changed since, as a
// state of its own: a step that can be taken back. It is recorded also where nothing
// has changed, so that what comes later isn't taken for it.
func (w *Folders) takeInCut(ctx context.Context, conv *store.OpenChat, ws *toolset.Workspace, seen watch) error {
	if !conv.Suspect() || conv.Chat.ActiveManifest == "" {
		return nil
	}
	snap, err := w.TakeState(ctx, ws, cas.SnapshotOptions{
		About:  cas.About{ChatID: conv.Chat.ID, ParentID: conv.Chat.ActiveManifest, Source: cas.Interrupted},
		Limits: w.Options.States, Begin: seen.begin, Progress: seen.progress,
	})
	if err != nil {
		return store.StateFault("look at "+ws.Path, err)
	}
	conv.Chat.ActiveManifest, conv.Chat.CutShort = snap.Manifest.ID, false
	return w.SetActive(ctx, conv.Chat.ID, snap.Manifest.ID)
}

// TakeInLeft is takeInCut of the branch that a turn leaves, whose end conv hasn't.
func (w *Folders) TakeInLeft(ctx context.Context, conv *store.OpenChat, ws *toolset.Workspace) error {
	leaf, err := w.LoadBy(ctx, conv.Chat.ID, "", LeafOnly())
	if err != nil {
		return err
	}
	if err := w.takeInCut(ctx, leaf, ws, watch{}); err != nil {
		return err
	}
	conv.Chat.ActiveManifest, conv.Chat.CutShort = leaf.Chat.ActiveManifest, leaf.Chat.CutShort
	return nil
}
