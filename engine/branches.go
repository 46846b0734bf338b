package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
)

// loadFor reads the chat and the way to where the request's turn begins.
func (s *Store) loadFor(ctx context.Context, chatID string, req TurnRequest) (*conversation, error) {
	if req.app != nil {
		return s.loadBy(ctx, chatID, "", leafOnly) // a page's call sends nothing of the chat to a model
	}
	if !req.Chat.beside() {
		return s.loadBy(ctx, chatID, req.Chat.Parent, reach{})
	}
	needed := reach{least: 2} // the question and its answer
	if req.Chat.At > 0 {
		needed = wholeWay // places count from the root
	}
	conv, err := s.loadBy(ctx, chatID, req.Chat.Instead, needed)
	if err != nil {
		return nil, err
	}
	switch n := len(conv.path); {
	case req.Chat.At > n || n == 0:
		return nil, fault.New(fault.Usage, fmt.Sprintf("chat %d has no message %d: it has %s", conv.chat.Number, max(req.Chat.At, 1), fault.Plural(n, "message")),
			fmt.Sprintf("fettle chats show %d", conv.chat.Number))
	case req.Chat.At > 0:
		conv.path = conv.path[:req.Chat.At]
	}
	if conv.path[len(conv.path)-1].Role == provider.Assistant {
		conv.path = conv.path[:len(conv.path)-1]
	}
	if len(conv.path) == 0 || conv.path[len(conv.path)-1].Role != provider.User {
		return nil, fault.New(fault.NotFound, fmt.Sprintf("that message of chat %d answers no question", conv.chat.Number),
			fmt.Sprintf("fettle chats show %d", conv.chat.Number))
	}
	question := conv.path[len(conv.path)-1]
	conv.path = slices.Clip(conv.path[:len(conv.path)-1])
	conv.parent, conv.instead = question.ParentID, &question
	if len(req.Parts) == 0 {
		conv.again = &question
	}
	conv.state, err = s.stateOfQuestion(ctx, conv)
	conv.cutSummed()
	return conv, err
}

// stateOfQuestion is the manifest that the turn of a question began at, with
// what the question brought along only if it is asked again.
func (s *Store) stateOfQuestion(ctx context.Context, conv *conversation) (string, error) {
	question := conv.instead
	m, err := s.manifest(ctx, question.ManifestID)
	if err != nil {
		return "", err
	}
	if m != nil && conv.again == nil && m.Source == cas.UserUpload && m.SourceRef == question.ID && m.ParentID != "" {
		return m.ParentID, nil
	}
	if m != nil {
		return m.ID, nil
	}
	if state := conv.stateAt(); state != "" {
		return state, nil
	}
	return s.firstState(ctx, conv.chat)
}

// firstState is the state in which the chat's first tool found the workspace. A
// state knows its own; the way back is gone only over those that don't.
func (s *Store) firstState(ctx context.Context, chat chat.Chat) (string, error) {
	first := ""
	for id := chat.ActiveManifest; id != ""; {
		m, err := s.manifest(ctx, id)
		if m == nil || err != nil {
			return first, err
		}
		if m.GroundID != "" {
			if g, err := s.manifest(ctx, m.GroundID); g != nil || err != nil {
				return m.GroundID, err
			}
		}
		first, id = m.ID, m.ParentID
	}
	return first, nil
}

// origin is the message that a branch begins at, for its first state.
func (c *conversation) origin() string {
	if c.parent == "" && c.instead != nil {
		return c.instead.ID
	}
	return c.parent
}

// SwitchRequest says which branch a chat is to go on in.
type SwitchRequest struct {
	Chat ChatRef
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
func (e *Engine) Switch(ctx context.Context, req SwitchRequest) (*Restored, error) {
	back := RestoreRequest{Chat: req.Chat, Overwrite: req.Overwrite, OnWait: req.OnWait, Written: req.Written}
	return e.withFolder(ctx, back, func(chat chat.Chat, ws *toolset.Workspace) (*Restored, error) {
		to, err := e.branchBelow(ctx, chat, req.Message)
		if err != nil {
			return nil, err
		}
		if to.Leaf == chat.ActiveLeaf {
			return &Restored{Chat: chat}, nil
		}
		out, err := e.switchFolder(ctx, switching{chat: chat, ws: ws, to: to}, back)
		if err != nil {
			return nil, err
		}
		return out, e.setLeaf(ctx, out, to.Leaf)
	})
}

// switching is a chat on its way to another branch.
type switching struct {
	chat chat.Chat
	ws   *toolset.Workspace
	to   Branch
}

// switchFolder gives the folder the files of the branch, where these are known.
func (s *Store) switchFolder(ctx context.Context, sw switching, req RestoreRequest) (*Restored, error) {
	out := &Restored{Chat: sw.chat}
	active, err := s.manifest(ctx, sw.chat.ActiveManifest)
	if err != nil || active == nil {
		return out, err
	}
	id := sw.to.ManifestID
	if id == "" {
		if id, err = s.firstState(ctx, sw.chat); err != nil {
			return nil, err
		}
	}
	to, err := s.manifest(ctx, id)
	if err != nil || to == nil {
		return out, err
	}
	move, err := s.noteMove(ctx, sw.chat, "") // setLeaf ends it
	if err != nil {
		return nil, err
	}
	s.endServicesIn(sw.ws, "the chat went on in another branch")
	done, err := s.moveTo(ctx, sw.ws, to, cas.RestoreOptions{
		About:  cas.About{ID: move.Moved, ChatID: sw.chat.ID, ParentID: to.ID, Source: cas.Branch, SourceRef: sw.to.Leaf},
		Active: active, FoundID: move.Found, Overwrite: req.Overwrite, Limits: s.o.States, Written: req.Written, Doing: doingBranch,
	})
	if err != nil {
		err = errors.Join(err, s.endMove(context.WithoutCancel(ctx), sw.chat.ID))
	} else {
		s.pause("move:done")
	}
	var conflict *cas.ConflictError
	if errors.As(err, &conflict) {
		return nil, conflictFault(sw.ws, conflict.Paths)
	}
	if err != nil {
		return nil, stateFault("bring back the files of that branch", err)
	}
	out.Before, out.After = done.Before, done.After
	out.Changes, out.Left = done.Changes, done.Left
	return out, nil
}

// setLeaf makes a message the chat's leaf, with the state that was brought back
// for it. Who calls it holds the chat's lock.
func (s *Store) setLeaf(ctx context.Context, done *Restored, leaf string) error {
	err := s.store.UpdateSync(ctx, func(tx *kv.Tx) error {
		chat, err := s.tables.chats.Get(tx, kv.Str(done.Chat.ID))
		if err != nil {
			return err
		}
		if err := s.noteLeft(tx, chat, cmp.Or(manifestID(done.Before), chat.ActiveManifest)); err != nil {
			return err
		}
		chat.ActiveLeaf = leaf
		if done.After != nil {
			chat.ActiveManifest = done.After.ID
		}
		done.Chat = *chat
		return errors.Join(putBounded(s, tx, s.tables.chats, chat, chat.Called()), s.tables.moves.Delete(tx, kv.Str(chat.ID)))
	})
	if err != nil {
		return storeFault(fmt.Sprintf("note the branch of chat %d", done.Chat.Number), err)
	}
	return nil
}
