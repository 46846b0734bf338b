package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/lockfile"
	"github.com/fettle-cli/fettle/toolset"
)

// Pending is a change of a chat's files by fettle itself that a killed process has left
// unfinished. The next operation that changes something in the chat reverts it, or
// finishes it; one that only reads leaves the folder as it is.
type Pending struct {
	// Doing is the operation: "undo", "redo", "restore" or "change of branches".
	Doing string
	// Since is when it began; zero where that isn't known.
	Since time.Time
	// Path is the folder.
	Path string
	// Done reports that all files have been restored, so that it will be finished.
	Done bool

	found *cas.Manifest // the state that the folder will have then
}

// String returns a sentence for the user that describes what is pending.
func (p *Pending) String() string {
	then := "takes it back"
	if p.Done {
		then = "finishes it"
	}
	return fmt.Sprintf("%s %s in %s was cut short%s and is pending; the next command that changes something in this chat %s",
		store.Article(p.Doing), p.Doing, p.Path, store.BegunAt(p.Since), then)
}

// Pending returns the change that a killed process has left unfinished in a chat's
// folder, or nil. It only reads the store. A change that is still running is not
// pending.
func (w *Folders) Pending(ctx context.Context, chat chat.Chat) (*Pending, error) {
	p, err := w.pendingIn(ctx, chat)
	if p == nil || err != nil {
		return nil, err
	}
	path, err := w.LockPath("chat-" + chat.ID)
	if err != nil {
		return nil, err
	}
	release, free, err := lockfile.TryShared(path)
	if err != nil || !free {
		return nil, err // another process is at it
	}
	release()
	return p, nil
}

// pendingIn is Pending for a caller that holds the chat's lock.
func (w *Folders) pendingIn(ctx context.Context, chat chat.Chat) (*Pending, error) {
	cut, err := w.cutIn(ctx, chat)
	if err != nil {
		return nil, err
	}
	active, err := w.Manifest(ctx, chat.ActiveManifest)
	if err != nil {
		return nil, err
	}
	if cut != nil {
		p := &Pending{Doing: cmp.Or(cut.Doing, "restore"), Since: cut.Started, Path: cut.Path, Done: cut.Done, found: active}
		if active == nil || active.Root != cut.After {
			p.found = &cas.Manifest{ChatID: chat.ID, Root: cut.After}
		}
		return p, nil
	}
	m, over, err := w.readMove(ctx, chat)
	if err != nil || m == nil || over {
		return nil, err
	}
	moved, err := w.Manifest(ctx, m.Moved)
	if err != nil || moved == nil { // it changed nothing
		return nil, err
	}
	found, err := w.Manifest(ctx, m.Found)
	if err != nil {
		return nil, err
	}
	if found == nil {
		found = active
	}
	return &Pending{Doing: DoingBranch, Since: moved.CreatedAt, Path: w.WorkspacePath(chat), found: found}, nil
}

// cutIn is the restore of a chat, or in its folder, that was started and has not ended.
func (w *Folders) cutIn(ctx context.Context, chat chat.Chat) (*cas.Cut, error) {
	if !w.HasStore() {
		return nil, nil
	}
	cuts, err := w.Snapshots.Cuts(ctx)
	if err != nil {
		return nil, store.StoreFault("look for restores that were cut short", err)
	}
	if len(cuts) == 0 {
		return nil, nil
	}
	path := w.WorkspacePath(chat)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	for i := range cuts {
		if cuts[i].ChatID == chat.ID || cuts[i].Path == path {
			return &cuts[i], nil
		}
	}
	return nil, nil
}

// readMove reads the record of a folder that was on its way to another branch; nil if
// there is none. over reports that the chat has arrived there, or has moved on.
func (w *Folders) readMove(ctx context.Context, chat chat.Chat) (m *store.BranchMove, over bool, err error) {
	arrived := false
	err = w.View(ctx, func(tx *kv.Tx) (err error) {
		if m, err = w.Tables.Moves.Get(tx, kv.Str(chat.ID)); err != nil || m.MessageID == "" {
			return err
		}
		arrived, err = w.Tables.Messages.Has(tx, store.MessageKey(chat.ID, m.MessageID))
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, store.StoreFault("read the way to another branch", err)
	}
	return m, arrived || chat.ActiveManifest != m.Active, nil
}

// TakeBackCut reverts, or finishes, an operation that a killed process has left
// unfinished in the chat's folder. open is only called if there is one. The caller
// holds the chat's lock.
func (w *Folders) TakeBackCut(ctx context.Context, chat chat.Chat, open openFolder) error {
	cut, err := w.cutIn(ctx, chat)
	if err != nil || cut == nil {
		return err
	}
	ws, release, err := open()
	if err != nil {
		return err
	}
	defer release()
	w.endServicesIn(ws, "an operation on its workspace that was cut short was taken back")
	if err := w.Snapshots.Recover(ctx, CASWorkspace(ws)); err != nil {
		return store.StateFault("take back what was cut short in "+ws.Path, err)
	}
	return nil
}

// DoingBranch is the operation of a folder that is given the files of another branch.
const DoingBranch = "change of branches"

// reading is set for an operation that leaves the chat's folder as it is.
type reading struct {
	// pending is the change because of which the folder must not be touched; nil if
	// there is none.
	pending *Pending
}

// found is the state that the folder is assumed to have; nil if the folder is read.
func (r *reading) found() *cas.Manifest {
	if r == nil || r.pending == nil {
		return nil
	}
	return r.pending.found
}

// readOnly prepares a folder for an operation that leaves it as it is.
func (w *Folders) readOnly(ctx context.Context, conv *store.OpenChat, r *reading) (err error) {
	if r.pending, err = w.pendingIn(ctx, conv.Chat); err != nil || r.pending == nil {
		return err
	}
	w.Options.Notice(fmt.Sprintf("chat %d: %s", conv.Chat.Number, r.pending))
	return nil
}

// lookAt is the state of a folder that something is pending in, as it is.
func (w *Folders) lookAt(ctx context.Context, chat chat.Chat, ws *toolset.Workspace, seen watch) (*cas.Manifest, error) {
	m, err := w.Snapshots.Look(ctx, CASWorkspace(ws), cas.SnapshotOptions{
		About:  cas.About{ChatID: chat.ID, ParentID: chat.ActiveManifest, Source: cas.External},
		Limits: w.Options.States, Begin: seen.begin, Progress: seen.progress,
	})
	if err != nil {
		return nil, store.StateFault("look at "+ws.Path, err)
	}
	return m, nil
}

// settle records a state that was restored for the chat by a process which was killed
// before it could record that: the folder has it already. The caller holds the chat's
// lock.
func (w *Folders) settle(ctx context.Context, chat *chat.Chat) error {
	id, err := w.settled(ctx, *chat)
	if err != nil || id == chat.ActiveManifest {
		return err
	}
	chat.ActiveManifest = id
	if err := w.SetActive(ctx, chat.ID, id); err != nil {
		return err
	}
	w.Options.Notice(fmt.Sprintf("chat %d: an operation that was cut short had brought its files back; it is noted now", chat.Number))
	return nil
}

// settled returns the chat's active state, including one that was restored for it but
// not recorded.
func (w *Folders) settled(ctx context.Context, chat chat.Chat) (string, error) {
	was := chat.ActiveManifest
	last, err := w.Snapshots.Latest(ctx, chat.ID)
	if err != nil {
		return was, store.StoreFault("read the states of the workspace", err)
	}
	if last == nil || last.ID == was || last.Source != cas.Restored && (last.Source != cas.Branch || last.SourceRef != chat.ActiveLeaf) {
		return was, nil
	}
	if last.ParentID == "" {
		return was, nil // it was imported: a restored state follows another one
	}
	// It follows the active state, or what was found to differ from that.
	const furthest = 2
	for m, i := last, 0; m != nil && i < furthest; i++ {
		if m.ParentID == was {
			return last.ID, nil
		}
		if m, err = w.Manifest(ctx, m.ParentID); err != nil {
			return was, err
		}
		if m != nil && m.Source != cas.External && m.Source != cas.Interrupted {
			return was, nil
		}
	}
	return was, nil
}

// asSettled is a chat as [Engine.settle] would leave it, for what only reads.
func (w *Folders) asSettled(ctx context.Context, chat chat.Chat) (chat.Chat, error) {
	if chat.ActiveManifest == "" {
		return chat, nil
	}
	id, err := w.settled(ctx, chat)
	chat.ActiveManifest = id
	return chat, err
}
