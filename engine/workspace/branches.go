package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
)

// StateOfQuestion is the manifest that the turn of a question began at, with
// what the question brought along only if it is asked again.
func (w *Folders) StateOfQuestion(ctx context.Context, conv *store.OpenChat) (string, error) {
	question := conv.Instead
	m, err := w.Manifest(ctx, question.ManifestID)
	if err != nil {
		return "", err
	}
	if m != nil && conv.Again == nil && m.Source == cas.UserUpload && m.SourceRef == question.ID && m.ParentID != "" {
		return m.ParentID, nil
	}
	if m != nil {
		return m.ID, nil
	}
	if state := conv.StateAt(); state != "" {
		return state, nil
	}
	return w.FirstState(ctx, conv.Chat)
}

// FirstState is the state in which the chat's first tool found the workspace. A
// state knows its own; the way back is gone only over those that don't.
func (w *Folders) FirstState(ctx context.Context, chat chat.Chat) (string, error) {
	first := ""
	for id := chat.ActiveManifest; id != ""; {
		m, err := w.Manifest(ctx, id)
		if m == nil || err != nil {
			return first, err
		}
		if m.GroundID != "" {
			if g, err := w.Manifest(ctx, m.GroundID); g != nil || err != nil {
				return m.GroundID, err
			}
		}
		first, id = m.ID, m.ParentID
	}
	return first, nil
}

// SwitchRequest says which branch a chat is to go on in.
type SwitchRequest struct {
	Chat store.ChatRef
	// Message is one of the branch: the newest way from there is taken.
	Message string
	// Overwrite gives the user's own folder the branch's files also where
	// somebody else has changed one since. What is replaced stays in the store.
	Overwrite bool
	// OnWait is told whom it waits for. It may be nil.
	OnWait func(string)
	// Written is called as files are written; it may be nil.
	Written func(files int, bytes int64)
}

// Switch makes another branch the chat's active one, and gives the workspace
// the files that it had when that branch was left. It waits for a live turn of
// the chat.
func (w *Folders) Switch(ctx context.Context, req SwitchRequest) (*Restored, error) {
	back := RestoreRequest{Chat: req.Chat, Overwrite: req.Overwrite, OnWait: req.OnWait, Written: req.Written}
	return w.WithFolder(ctx, back, func(chat chat.Chat, ws *toolset.Workspace) (*Restored, error) {
		to, err := w.BranchBelow(ctx, chat, req.Message)
		if err != nil {
			return nil, err
		}
		if to.Leaf == chat.ActiveLeaf {
			return &Restored{Chat: chat}, nil
		}
		out, err := w.switchFolder(ctx, switching{chat: chat, ws: ws, to: to}, back)
		if err != nil {
			return nil, err
		}
		return out, w.setLeaf(ctx, out, to.Leaf)
	})
}

// switching is a chat on its way to another branch.
type switching struct {
	chat chat.Chat
	ws   *toolset.Workspace
	to   store.Branch
}

// switchFolder gives the folder the files of the branch, where these are known.
func (w *Folders) switchFolder(ctx context.Context, sw switching, req RestoreRequest) (*Restored, error) {
	out := &Restored{Chat: sw.chat}
	active, err := w.Manifest(ctx, sw.chat.ActiveManifest)
	if err != nil || active == nil {
		return out, err
	}
	id := sw.to.ManifestID
	if id == "" {
		if id, err = w.FirstState(ctx, sw.chat); err != nil {
			return nil, err
		}
	}
	to, err := w.Manifest(ctx, id)
	if err != nil || to == nil {
		return out, err
	}
	move, err := w.NoteMove(ctx, sw.chat, "") // setLeaf ends it
	if err != nil {
		return nil, err
	}
	w.endServicesIn(sw.ws, "the chat went on in another branch")
	done, err := w.moveTo(ctx, sw.ws, to, cas.RestoreOptions{
		About:  cas.About{ID: move.Moved, ChatID: sw.chat.ID, ParentID: to.ID, Source: cas.Branch, SourceRef: sw.to.Leaf},
		Active: active, FoundID: move.Found, Overwrite: req.Overwrite, Limits: w.Options.States, Written: req.Written, Doing: DoingBranch,
	})
	if err != nil {
		err = errors.Join(err, w.EndMove(context.WithoutCancel(ctx), sw.chat.ID))
	} else {
		w.Pause("move:done")
	}
	var conflict *cas.ConflictError
	if errors.As(err, &conflict) {
		return nil, conflictFault(sw.ws, conflict.Paths)
	}
	if err != nil {
		return nil, store.StateFault("bring back the files of that branch", err)
	}
	out.Before, out.After = done.Before, done.After
	out.Changes, out.Left = done.Changes, done.Left
	return out, nil
}

// setLeaf makes a message the chat's leaf, with the state that was brought back
// for it. Who calls it holds the chat's lock.
func (w *Folders) setLeaf(ctx context.Context, done *Restored, leaf string) error {
	err := w.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		chat, err := w.Tables.Chats.Get(tx, kv.Str(done.Chat.ID))
		if err != nil {
			return err
		}
		if err := w.NoteLeft(tx, chat, cmp.Or(ManifestID(done.Before), chat.ActiveManifest)); err != nil {
			return err
		}
		chat.ActiveLeaf = leaf
		if done.After != nil {
			chat.ActiveManifest = done.After.ID
		}
		done.Chat = *chat
		return errors.Join(store.PutBounded(w.In(tx), w.Tables.Chats, chat, chat.Called()), w.Tables.Moves.Delete(tx, kv.Str(chat.ID)))
	})
	if err != nil {
		return store.StoreFault(fmt.Sprintf("note the branch of chat %d", done.Chat.Number), err)
	}
	return nil
}
