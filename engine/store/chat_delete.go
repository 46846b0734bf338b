package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/lockfile"
	"github.com/fettle-cli/fettle/toolset"
)

const (
	// DeletedKept is how long a deleted chat can be brought back for certain:
	// as long as the events of turns are kept. After it the chat is removed for
	// good when a command has time for it.
	DeletedKept = eventsKept
	// MaxDelete bounds how many chats one call deletes: all of them are locked
	// and marked together.
	MaxDelete = 500
)

// deletion is a chat that is no longer there, or not yet there: its record may
// outlive the chat's, so that what is left of one is always found. Its JSON is
// a record format.
type deletion struct {
	ChatID string    `json:"chat_id"`
	At     time.Time `json:"at"`
	// Purging says that the removal for good has begun; there is no way back.
	Purging bool `json:"purging,omitempty"`
	// Making says that a chat is being brought in, whose record comes last.
	// What a crash leaves of it is removed as a deleted chat is.
	Making bool `json:"making,omitempty"`
}

// FindChat gives a chat without its messages. It waits for no live turn.
func (s *Store) FindChat(ctx context.Context, ref ChatRef) (chat.Chat, error) {
	return s.Find(ctx, ref, nil)
}

// NumberedChats gives the chats whose numbers lie from one to another, both
// included, in their order and at most MaxDelete of them and one.
func (s *Store) NumberedChats(ctx context.Context, from, to int64) ([]chat.Chat, error) {
	if _, err := s.Fold(ctx, FoldAll); err != nil {
		return nil, err
	}
	var out []chat.Chat
	err := s.View(ctx, func(tx *kv.Tx) error {
		r := kv.Range{From: kv.Int(from), To: kv.Int(to + 1)}
		for c, err := range Legible(s, s.Tables.Chats.ByIndex(tx, "number", nil, r)) {
			if err != nil {
				return err
			}
			if c.DeletedAt == nil {
				out = append(out, *c)
			}
			if len(out) > MaxDelete {
				return nil
			}
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	return out, err
}

// DeleteChats marks chats as deleted, all of them or, with an error, none. They
// are gone from every list at once, and [Store.RestoreChat] brings them back
// until they are removed for good, at the earliest after DeletedKept. A chat
// with a live turn is not deleted.
func (s *Store) DeleteChats(ctx context.Context, chats ...chat.Chat) error {
	if len(chats) > MaxDelete {
		return fault.New(fault.Usage, fmt.Sprintf("%d chats are too many to delete at once; %d are allowed", len(chats), MaxDelete))
	}
	letData, err := s.ShareData(ctx, nil) // also if there are no chats, for what follows
	if err != nil {
		return err
	}
	defer letData()
	for _, c := range chats {
		unlock, err := s.TryChat(ctx, c)
		if err != nil {
			return err
		}
		defer unlock()
	}
	// What had ended before the locks were taken is folded now, and no turn
	// begins meanwhile: a deleted chat has no journal.
	if _, err := s.Fold(ctx, FoldAll); err != nil {
		return err
	}
	now := s.Options.Now()
	err = s.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		for _, c := range chats {
			if err := s.MarkDeleted(tx, c, now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return s.StoreTrouble(err)
	}
	s.Services.EndServices("its chat was deleted", func(svc toolset.Service) bool {
		return slices.ContainsFunc(chats, func(c chat.Chat) bool { return c.ID == svc.ChatID })
	})
	return s.remirror(ctx)
}

// MarkDeleted notes that a chat is deleted, and takes it out of lists and search.
func (s *Store) MarkDeleted(tx *kv.Tx, c chat.Chat, now time.Time) error {
	chat, err := s.Tables.Chats.Get(tx, kv.Str(c.ID))
	if errors.Is(err, kv.ErrNotFound) {
		return fault.New(fault.NotFound, fmt.Sprintf("no chat %d", c.Number), fault.Try(fault.ListChats))
	}
	if err != nil || chat.DeletedAt != nil {
		return err // somebody was faster, and its mark stands
	}
	chat.DeletedAt = &now
	return errors.Join(PutBounded(s.In(tx), s.Tables.Chats, chat, chat.Called()),
		s.Tables.Deleted.Put(tx, &deletion{ChatID: chat.ID, At: now}))
}

// TryChat takes the locks that a turn of the chat would hold, or returns a fault that
// names the process which has the chat's.
func (s *Store) TryChat(ctx context.Context, c chat.Chat) (func(), error) {
	letData, err := s.ShareData(ctx, nil)
	if err != nil {
		return nil, err
	}
	unlock, err := s.tryChatAlone(c)
	if err != nil {
		letData()
		return nil, err
	}
	return func() { unlock(); letData() }, nil
}

func (s *Store) tryChatAlone(c chat.Chat) (func(), error) {
	path, err := s.LockPath("chat-" + c.ID)
	if err != nil {
		return nil, err
	}
	unlock, ok, err := lockfile.Try(path)
	if err != nil {
		return nil, StoreFault("lock chat "+strconv.Itoa(int(c.Number)), err)
	}
	if ok {
		return unlock, nil
	}
	pid := lockfile.OwnerPID(path)
	f := fault.New(fault.Busy, fmt.Sprintf("chat %d is busy", c.Number))
	if pid > 0 {
		f.Msg += ": " + lockfile.Process(pid) + ", has it"
		f.Remedies = []fault.Remedy{fault.Try(fault.StopProcess, strconv.Itoa(pid)).That("stops it; what came until then is kept")}
	}
	return nil, f
}

// remirror tells the catalogue of deletions. They hold without it: it only says
// when a command may look for something to remove.
func (s *Store) remirror(ctx context.Context) error {
	if err := s.Mirror(ctx); err != nil && ctx.Err() == nil {
		s.Options.Notice("note when deleted chats are removed: " + err.Error())
	}
	return nil
}

// DeletedChats gives the chats that can be restored, the last deleted first.
func (s *Store) DeletedChats(ctx context.Context) ([]chat.Chat, error) {
	var out []chat.Chat
	err := s.View(ctx, func(tx *kv.Tx) error {
		for d, err := range Legible(s, s.Tables.Deleted.Scan(tx, kv.Range{})) {
			if err != nil {
				return err
			}
			if d.Purging || d.Making {
				continue
			}
			chat, err := s.Tables.Chats.Get(tx, kv.Str(d.ChatID))
			if errors.Is(err, kv.ErrNotFound) || err != nil && s.LeavesOut(err) {
				continue
			}
			if err != nil {
				return err
			}
			out = append(out, *chat)
		}
		return nil
	})
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return nil, err
	}
	slices.SortFunc(out, func(a, b chat.Chat) int {
		return cmp.Or(b.DeletedAt.Compare(*a.DeletedAt), cmp.Compare(b.LastTurn, a.LastTurn))
	})
	return out, nil
}

// RestoreChat takes back that a chat was deleted. was tells whether it had
// been: one that is there is left as it is.
func (s *Store) RestoreChat(ctx context.Context, number int64) (c chat.Chat, was bool, err error) {
	if _, err := s.Fold(ctx, FoldAll); err != nil {
		return chat.Chat{}, false, err
	}
	gone := fault.New(fault.NotFound, fmt.Sprintf("there is no chat %d to restore", number), fault.Try(fault.ListDeletedChats))
	err = s.View(ctx, func(*kv.Tx) error { return nil })
	if errors.Is(err, kv.ErrNotFound) {
		return chat.Chat{}, false, gone // no store yet, and none is made
	}
	if err != nil {
		return chat.Chat{}, false, err
	}
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return chat.Chat{}, false, err
	}
	defer release()
	err = s.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		found, err := s.Tables.Chats.Find(tx, "number", kv.Int(number))
		if errors.Is(err, kv.ErrNotFound) {
			return gone
		}
		if err != nil {
			return err
		}
		was, err = s.unmarkDeleted(tx, found)
		c = *found
		return err
	})
	if err != nil {
		return chat.Chat{}, false, s.StoreTrouble(err)
	}
	if was {
		err = s.remirror(ctx)
	}
	return c, was, err
}

func (s *Store) unmarkDeleted(tx *kv.Tx, chat *chat.Chat) (was bool, err error) {
	if chat.DeletedAt == nil {
		return false, nil
	}
	d, err := s.Tables.Deleted.Get(tx, kv.Str(chat.ID))
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return false, err
	}
	if err == nil && d.Purging {
		return false, fault.New(fault.NotFound, fmt.Sprintf("chat %d is being removed for good", chat.Number), fault.Try(fault.ListDeletedChats))
	}
	chat.DeletedAt = nil
	return true, errors.Join(PutBounded(s.In(tx), s.Tables.Chats, chat, chat.Called()), s.Tables.Deleted.Delete(tx, kv.Str(chat.ID)))
}
