package workspace

import (
	"context"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// Branches lists the branches of a chat, the first begun first. It reads what it lists,
// and not the messages in between.
func (w *Folders) Branches(ctx context.Context, ref store.ChatRef) (chat.Chat, []store.Branch, error) {
	chat, err := w.Find(ctx, ref, nil)
	if err != nil {
		return chat, nil, err
	}
	set, err := w.BranchSet(ctx, chat)
	if err != nil {
		return chat, nil, err
	}
	active, err := w.Manifest(ctx, chat.ActiveManifest)
	if err != nil {
		return chat, nil, err
	}
	var out []store.Branch
	if err := w.View(ctx, func(tx *kv.Tx) error { out, err = w.ListBranches(tx, set); return err }); err != nil {
		return chat, nil, err
	}
	for i := range out {
		b := &out[i]
		b.Number = i + 1
		if b.Active {
			b.ManifestID = chat.ActiveManifest
		} else if err := w.countChanges(ctx, chat, active, b); err != nil {
			return chat, nil, err
		}
	}
	return chat, out, nil
}

// countChanges counts what switching to a branch would change.
func (w *Folders) countChanges(ctx context.Context, chat chat.Chat, active *cas.Manifest, b *store.Branch) error {
	to, err := w.Manifest(ctx, b.ManifestID)
	if err != nil || to == nil || active == nil || to.Root == active.Root {
		return err
	}
	return w.movedCounts(ctx, chat, active, to, b)
}
