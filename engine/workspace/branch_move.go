package workspace

import (
	"context"
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
)

// NoteMove records that a chat's folder is about to be moved.
func (w *Folders) NoteMove(ctx context.Context, chat chat.Chat, message string) (*store.BranchMove, error) {
	m := &store.BranchMove{ChatID: chat.ID, MessageID: message, Active: chat.ActiveManifest, Found: w.NewID(), Moved: w.NewID()}
	if m.Moved < m.Found { // of one millisecond; the last state is to sort last
		m.Found, m.Moved = m.Moved, m.Found
	}
	if err := w.KV.UpdateSync(ctx, func(tx *kv.Tx) error { return w.Tables.Moves.Put(tx, m) }); err != nil {
		return nil, store.StoreFault("note the way to another branch", err)
	}
	w.Pause("move:noted")
	return m, nil
}

// EndMove removes the record of a move that isn't under way any more.
func (w *Folders) EndMove(ctx context.Context, chatID string) error {
	err := w.KV.Update(ctx, func(tx *kv.Tx) error { return w.Tables.Moves.Delete(tx, kv.Str(chatID)) })
	if err != nil {
		return store.StoreFault("note the way to another branch", err)
	}
	return nil
}

// SettleIn makes the chat and its folder agree after a process was killed that
// was about to change both. open gives the folder, with its lock held until
// release is called; it isn't called where nothing has to be done there. Who
// calls SettleIn holds the chat's lock, and has folded.
func (w *Folders) SettleIn(ctx context.Context, chat *chat.Chat, open openFolder) error {
	if err := w.takeBackMove(ctx, chat, open); err != nil {
		return err
	}
	return w.settle(ctx, chat)
}

// openFolder gives a chat's folder, locked until release is called.
type openFolder func() (ws *toolset.Workspace, release func(), err error)

// takeBackMove gives the folder back the files of the branch that the chat is in,
// if it was left on the way to another. What somebody has changed since stays.
func (w *Folders) takeBackMove(ctx context.Context, chat *chat.Chat, open openFolder) error {
	m, over, err := w.readMove(ctx, *chat)
	if err != nil || m == nil {
		return err
	}
	if over {
		return w.EndMove(ctx, chat.ID)
	}
	ws, release, err := open()
	if err != nil {
		return err
	}
	defer release()
	return w.moveBack(ctx, chat, ws, m)
}

// moveBack is takeBackMove of a move that was begun and not ended.
func (w *Folders) moveBack(ctx context.Context, chat *chat.Chat, ws *toolset.Workspace, m *store.BranchMove) error {
	moved, err := w.Manifest(ctx, m.Moved)
	if err != nil {
		return err
	}
	before, err := w.Manifest(ctx, m.Found)
	if before == nil && err == nil {
		before, err = w.Manifest(ctx, m.Active)
	}
	if err != nil {
		return err
	}
	if moved == nil || before == nil { // it changed nothing, or was taken back as a whole
		return w.EndMove(ctx, chat.ID)
	}
	snap, err := w.Snapshots.Snapshot(ctx, CASWorkspace(ws), cas.SnapshotOptions{
		About: cas.About{ChatID: chat.ID, Source: cas.Interrupted}, Parent: moved, Limits: w.Options.States,
	})
	if err != nil {
		return store.StateFault("look at "+ws.Path, err)
	}
	now, err := w.bringBack(ctx, chat, ws, branchEnds{before: before, moved: moved, now: snap.Manifest})
	if err != nil {
		return err
	}
	err = w.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		c, err := w.Tables.Chats.Get(tx, kv.Str(chat.ID))
		if err != nil {
			return err
		}
		if now != "" {
			c.ActiveManifest = now
		}
		*chat = *c
		return errors.Join(store.PutBounded(w.In(tx), w.Tables.Chats, c, c.Called()), w.Tables.Moves.Delete(tx, kv.Str(chat.ID)))
	})
	if err != nil {
		return store.StoreFault("note the state of the workspace", err)
	}
	return nil
}

// branchEnds are the states of a folder that was left on the way: in the chat's
// branch, in the other one, and as it is found.
type branchEnds struct{ before, moved, now *cas.Manifest }

// bringBack takes back what the move changed, but for what was changed since, and
// gives the id of the chat's state then; "" where that isn't known.
func (w *Folders) bringBack(ctx context.Context, chat *chat.Chat, ws *toolset.Workspace, b branchEnds) (string, error) {
	if b.now.Root == b.before.Root {
		return b.before.ID, nil
	}
	paths, keep := []string{}, []string{}
	err := w.EachChange(ctx, b.moved, b.before, func(path string) { paths = append(paths, path) })
	if err == nil {
		err = w.EachChange(ctx, b.moved, b.now, func(path string) { keep = append(keep, path) })
	}
	if err != nil {
		return "", err
	}
	done, err := w.Snapshots.Materialize(ctx, CASWorkspace(ws), b.before, cas.RestoreOptions{
		About:  cas.About{ChatID: chat.ID, ParentID: b.before.ID, Source: cas.Branch, SourceRef: chat.ActiveLeaf},
		Active: b.now, Paths: paths, Keep: keep, Limits: w.Options.States, Doing: DoingBranch,
	})
	var conflict *cas.ConflictError
	if errors.As(err, &conflict) {
		// It stays as it is, and counts as somebody's change to this branch.
		w.Options.Notice(fmt.Sprintf("%s still has files of another branch of chat %d: %s", ws.Path, chat.Number, sanitize.Line(err.Error())))
		return "", nil
	}
	if err != nil {
		return "", store.StateFault("bring back the files of the chat's branch", err)
	}
	w.Options.Notice(w.ChatName(ctx, chat.ID) + store.RecoveryText(cas.Recovery{
		Cut: cas.Cut{Path: ws.Path, Doing: DoingBranch, Started: b.moved.CreatedAt}, Changes: done.Changes, Left: done.Left,
	}))
	if done.After.ID == done.Before.ID {
		return "", nil // all that it changed was changed again
	}
	return done.After.ID, nil
}
