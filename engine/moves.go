package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
)

// branchMove is the record of a folder that is given the files of another branch
// before the chat is there: before a turn is accepted, or a switch noted. It is
// in the store before the first file changes. A process that is killed in
// between leaves it, and who next works with the folder takes the move back: else
// the other branch's files would count as somebody's change to this one.
type branchMove struct {
	ChatID string `json:"chat_id"`
	// MessageID is the answer of the turn that the folder is moved for; with it
	// in the store the chat is there. A switch removes the record as it is noted.
	MessageID string `json:"message_id,omitempty"`
	// Active is the state that the chat was at. Found is the state in which the
	// folder was, if it differed, Moved the one that it was given: the ids that
	// these get, if there are such.
	Active string `json:"active"`
	Found  string `json:"found"`
	Moved  string `json:"moved"`
}

// noteMove records that a chat's folder is about to be moved.
func (s *Store) noteMove(ctx context.Context, chat chat.Chat, message string) (*branchMove, error) {
	m := &branchMove{ChatID: chat.ID, MessageID: message, Active: chat.ActiveManifest, Found: s.newID(), Moved: s.newID()}
	if m.Moved < m.Found { // of one millisecond; the last state is to sort last
		m.Found, m.Moved = m.Moved, m.Found
	}
	if err := s.store.UpdateSync(ctx, func(tx *kv.Tx) error { return s.tables.moves.Put(tx, m) }); err != nil {
		return nil, storeFault("note the way to another branch", err)
	}
	s.pause("move:noted")
	return m, nil
}

// endMove removes the record of a move that isn't under way any more.
func (s *Store) endMove(ctx context.Context, chatID string) error {
	err := s.store.Update(ctx, func(tx *kv.Tx) error { return s.tables.moves.Delete(tx, kv.Str(chatID)) })
	if err != nil {
		return storeFault("note the way to another branch", err)
	}
	return nil
}

// settleIn makes the chat and its folder agree after a process was killed that
// was about to change both. open gives the folder, with its lock held until
// release is called; it isn't called where nothing has to be done there. Who
// calls settleIn holds the chat's lock, and has folded.
func (s *Store) settleIn(ctx context.Context, chat *chat.Chat, open openFolder) error {
	if err := s.takeBackMove(ctx, chat, open); err != nil {
		return err
	}
	return s.settle(ctx, chat)
}

// openFolder gives a chat's folder, locked until release is called.
type openFolder func() (ws *toolset.Workspace, release func(), err error)

// takeBackMove gives the folder back the files of the branch that the chat is in,
// if it was left on the way to another. What somebody has changed since stays.
func (s *Store) takeBackMove(ctx context.Context, chat *chat.Chat, open openFolder) error {
	m, over, err := s.readMove(ctx, *chat)
	if err != nil || m == nil {
		return err
	}
	if over {
		return s.endMove(ctx, chat.ID)
	}
	ws, release, err := open()
	if err != nil {
		return err
	}
	defer release()
	return s.moveBack(ctx, chat, ws, m)
}

// moveBack is takeBackMove of a move that was begun and not ended.
func (s *Store) moveBack(ctx context.Context, chat *chat.Chat, ws *toolset.Workspace, m *branchMove) error {
	moved, err := s.manifest(ctx, m.Moved)
	if err != nil {
		return err
	}
	before, err := s.manifest(ctx, m.Found)
	if before == nil && err == nil {
		before, err = s.manifest(ctx, m.Active)
	}
	if err != nil {
		return err
	}
	if moved == nil || before == nil { // it changed nothing, or was taken back as a whole
		return s.endMove(ctx, chat.ID)
	}
	snap, err := s.states.Snapshot(ctx, casWorkspace(ws), cas.SnapshotOptions{
		About: cas.About{ChatID: chat.ID, Source: cas.Interrupted}, Parent: moved, Limits: s.o.States,
	})
	if err != nil {
		return stateFault("look at "+ws.Path, err)
	}
	now, err := s.bringBack(ctx, chat, ws, branchEnds{before: before, moved: moved, now: snap.Manifest})
	if err != nil {
		return err
	}
	err = s.store.UpdateSync(ctx, func(tx *kv.Tx) error {
		c, err := s.tables.chats.Get(tx, kv.Str(chat.ID))
		if err != nil {
			return err
		}
		if now != "" {
			c.ActiveManifest = now
		}
		*chat = *c
		return errors.Join(putBounded(s, tx, s.tables.chats, c, c.Called()), s.tables.moves.Delete(tx, kv.Str(chat.ID)))
	})
	if err != nil {
		return storeFault("note the state of the workspace", err)
	}
	return nil
}

// branchEnds are the states of a folder that was left on the way: in the chat's
// branch, in the other one, and as it is found.
type branchEnds struct{ before, moved, now *cas.Manifest }

// bringBack takes back what the move changed, but for what was changed since, and
// gives the id of the chat's state then; "" where that isn't known.
func (s *Store) bringBack(ctx context.Context, chat *chat.Chat, ws *toolset.Workspace, b branchEnds) (string, error) {
	if b.now.Root == b.before.Root {
		return b.before.ID, nil
	}
	paths, keep := []string{}, []string{}
	err := s.eachChange(ctx, b.moved, b.before, func(path string) { paths = append(paths, path) })
	if err == nil {
		err = s.eachChange(ctx, b.moved, b.now, func(path string) { keep = append(keep, path) })
	}
	if err != nil {
		return "", err
	}
	done, err := s.states.Materialize(ctx, casWorkspace(ws), b.before, cas.RestoreOptions{
		About:  cas.About{ChatID: chat.ID, ParentID: b.before.ID, Source: cas.Branch, SourceRef: chat.ActiveLeaf},
		Active: b.now, Paths: paths, Keep: keep, Limits: s.o.States, Doing: doingBranch,
	})
	var conflict *cas.ConflictError
	if errors.As(err, &conflict) {
		// It stays as it is, and counts as somebody's change to this branch.
		s.o.Notice(fmt.Sprintf("%s still has files of another branch of chat %d: %s", ws.Path, chat.Number, sanitize.Line(err.Error())))
		return "", nil
	}
	if err != nil {
		return "", stateFault("bring back the files of the chat's branch", err)
	}
	s.o.Notice(s.chatName(ctx, chat.ID) + recoveryText(cas.Recovery{
		Cut: cas.Cut{Path: ws.Path, Doing: doingBranch, Started: b.moved.CreatedAt}, Changes: done.Changes, Left: done.Left,
	}))
	if done.After.ID == done.Before.ID {
		return "", nil // all that it changed was changed again
	}
	return done.After.ID, nil
}
