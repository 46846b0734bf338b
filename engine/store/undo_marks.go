package store

import (
	"context"
	"errors"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/kv"
)

// undoneCalls returns the calls of a chat whose changes of files are undone, of those made
// at or after the time of an id: by an undo that can be redone, by one that something new
// was done after, or alone.
func (s *Store) undoneCalls(ctx context.Context, chatID, since string) (map[string]bool, error) {
	var c *chat.Chat
	err := s.View(ctx, func(tx *kv.Tx) (err error) {
		c, err = s.Tables.Chats.Get(tx, kv.Str(chatID))
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil // its first turn runs
	}
	if err != nil {
		return nil, err
	}
	h, err := s.History(ctx, *c)
	if err != nil || h.Active == nil {
		return nil, err
	}
	since = chat.TimeOfID(since)
	undone, restored, err := h.callsSince(ctx, since)
	if err != nil || !restored {
		return nil, err
	}
	var rev Reverted
	for at := h.Active; at != nil && at.ID >= since; {
		done, err := h.Down(ctx, at)
		if err != nil || done == nil {
			return undone, err
		}
		rev.Note(done)
		if rev.By[done.ID] == "" {
			delete(undone, done.ID)
		}
		at = done.Before
	}
	return undone, nil
}

// callsSince returns the calls whose states are on the way to the active one, of those made
// at or after a time, and whether something was restored since.
func (h *History) callsSince(ctx context.Context, since string) (calls map[string]bool, restored bool, err error) {
	calls = map[string]bool{}
	for m := h.Active; m != nil && m.ID >= since; {
		restored = restored || m.Source == cas.Restored
		if m.Source == cas.ToolRun {
			calls[m.SourceRef] = true
		}
		if m, err = h.Before(ctx, m); err != nil {
			return nil, false, err
		}
	}
	return calls, restored, nil
}

// MarkUndoneCalls marks those of some calls whose changes are undone. None was made before
// the time of the id.
func (s *Store) MarkUndoneCalls(ctx context.Context, chatID, since string, calls []chat.ToolCall) error {
	if len(calls) == 0 {
		return nil
	}
	undone, err := s.undoneCalls(ctx, chatID, since)
	if err != nil {
		return err
	}
	for i := range calls {
		calls[i].Undone = undone[calls[i].ID]
	}
	return nil
}

// markUndoneResults marks the results of calls whose changes are undone, in messages of a
// chat in the order of their ids.
func (s *Store) markUndoneResults(ctx context.Context, chatID string, messages []chat.Message) error {
	undone, err := s.undoneCalls(ctx, chatID, messages[0].ID)
	if err != nil || len(undone) == 0 {
		return err
	}
	uses := map[chat.Use]bool{}
	err = s.View(ctx, func(tx *kv.Tx) error {
		for id := range undone {
			c, err := s.Tables.Calls.Get(tx, kv.Str(id))
			if errors.Is(err, kv.ErrNotFound) || err != nil && s.LeavesOut(err) {
				continue
			}
			if err != nil {
				return err
			}
			uses[chat.Use{MessageID: c.MessageID, ID: c.ToolUseID}] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range messages {
		for k, p := range messages[i].Parts {
			if p.Result != nil && uses[chat.Use{MessageID: messages[i].ID, ID: p.Result.ID}] {
				marked := *p.Result
				marked.Undone = true
				messages[i].Parts[k].Result = &marked
			}
		}
	}
	return nil
}
