package store

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/lockfile"
)

const (
	// purgeGroup is how many records are removed between two looks at the
	// time; it bounds how long the store is held.
	purgeGroup = 64
	// purgeFiles is how many entries of a folder are read at once.
	purgeFiles = 256
)

// Purge says what is removed for good.
type Purge struct {
	// Chats are ids of deleted chats; they are removed whatever their age.
	Chats []string
	// OlderThan takes all that were deleted so long ago, where Chats is nil; 0
	// takes all. [DeletedKept] is what people were promised.
	OlderThan time.Duration
}

// Purged is what was removed.
type Purged struct {
	Chats    int
	Messages int
	// Busy are chats that were left for the next time: a live turn began as a
	// fork of one, say, or another process is at it.
	Busy int
}

// PurgeChats removes deleted chats for good: their messages and tool calls, the
// events of their turns, what was allowed in them, and their own folders. A
// folder of the user's is never touched, and what they used stays counted. It
// may be stopped anywhere, by a crash too: the next purge goes on. It is a part
// of every garbage collection.
func (s *Store) PurgeChats(ctx context.Context, p Purge) (Purged, error) {
	var out Purged
	if _, err := s.Fold(ctx, FoldAll); err != nil {
		return out, err
	}
	due, err := s.purgeable(ctx, p)
	if err != nil || len(due) == 0 {
		return out, err
	}
	release, err := s.Lock(ctx, "purge", func(owner string) { s.Options.Notice("waiting for another process that removes chats, " + owner) })
	if err != nil {
		return out, err
	}
	defer release()
	defer s.KV.KeepOpen()()
	for _, d := range due {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		err := s.purge(ctx, d, p, &out)
		if err != nil && s.LeavesOut(err) {
			continue // of this chat something stays; the others are removed
		}
		if err != nil {
			if ctx.Err() == nil {
				err = s.StoreTrouble(err)
			}
			return out, err
		}
	}
	return out, s.remirror(ctx)
}

// purgeable finds the deletions that a Purge means, the oldest first.
func (s *Store) purgeable(ctx context.Context, p Purge) ([]deletion, error) {
	var out []deletion
	err := s.View(ctx, func(tx *kv.Tx) error {
		for d, err := range Legible(s, s.Tables.Deleted.Scan(tx, kv.Range{})) {
			if err != nil {
				return err
			}
			if p.means(*d, s.Options.Now()) {
				out = append(out, *d)
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return nil, err
	}
	slices.SortFunc(out, func(a, b deletion) int { return a.At.Compare(b.At) })
	return out, nil
}

func (p Purge) means(d deletion, now time.Time) bool {
	if p.Chats != nil {
		return slices.Contains(p.Chats, d.ChatID)
	}
	return d.Purging || d.Making || now.Sub(d.At) >= p.OlderThan
}

// nextPurge is when a command should look for something to remove; nil where
// nothing is deleted.
func (s *Store) nextPurge(tx *kv.Tx) (*time.Time, error) {
	var due *time.Time
	for d, err := range Legible(s, s.Tables.Deleted.Scan(tx, kv.Range{})) {
		if err != nil {
			return nil, err
		}
		at := d.At.Add(DeletedKept)
		if d.Purging {
			at = d.At
		}
		if due == nil || at.Before(*due) {
			due = &at
		}
	}
	return due, nil
}

// inJournals are the chats that a waiting journal belongs to or begins from:
// it is folded into the one, and brings messages of the other.
func (s *Store) inJournals() (map[string]bool, error) {
	turns, err := s.Journals.Turns()
	if err != nil {
		return nil, StoreFault("list the journals", err)
	}
	needed := map[string]bool{}
	for _, turn := range turns {
		a, err := s.acceptanceIn(turn)
		if err != nil {
			continue // folded meanwhile, or for Fold to set aside
		}
		needed[a.Chat.ID] = true
		if a.NewChat && a.Chat.ForkedFrom != nil {
			needed[a.Chat.ForkedFrom.ChatID] = true
		}
	}
	return needed, nil
}

// purge removes one chat, in two steps that each read the store under their locks.
// Between them a backup may be restored: the chat's data in that backup is kept.
func (s *Store) purge(ctx context.Context, d deletion, p Purge, out *Purged) error {
	begun := false
	err := s.alone(ctx, d.ChatID, out, func() (err error) {
		needed, err := s.inJournals()
		if err != nil {
			return err
		}
		if needed[d.ChatID] {
			out.Busy++
			return nil
		}
		begun, err = s.beginPurge(ctx, d.ChatID, p)
		return err
	})
	if err != nil || !begun {
		return err
	}
	s.Pause("purge:begun")
	return s.alone(ctx, d.ChatID, out, func() error {
		if purging, err := s.purging(ctx, d.ChatID); err != nil || !purging {
			return err
		}
		return s.finishPurge(ctx, d, out)
	})
}

// alone runs a step of a purge with the chat's lock, which prevents another process
// from importing the chat again. A chat that is busy is counted and left.
func (s *Store) alone(ctx context.Context, chatID string, out *Purged, do func() error) error {
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	unlock, ok, err := lockfile.Try(filepath.Join(s.Options.DataDir, "locks", "chat-"+chatID))
	if err != nil {
		return err
	}
	if !ok {
		out.Busy++
		return nil
	}
	defer unlock()
	return do()
}

// purging reports whether the store has noted that a chat is being removed for good.
func (s *Store) purging(ctx context.Context, chatID string) (begun bool, err error) {
	err = s.KV.View(ctx, func(tx *kv.Tx) error {
		d, err := s.Tables.Deleted.Get(tx, kv.Str(chatID))
		if errors.Is(err, kv.ErrNotFound) {
			begun = false
			return nil
		}
		begun = err == nil && d.Purging
		return err
	})
	return begun, err
}

// finishPurge removes all that is left of a chat.
func (s *Store) finishPurge(ctx context.Context, d deletion, out *Purged) error {
	if err := s.forgetWords(ctx, d.ChatID); err != nil {
		return err
	}
	n, err := s.clearChat(ctx, d.ChatID)
	out.Messages += n
	if err != nil {
		return err
	}
	err = s.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		return errors.Join(s.Tables.Chats.Delete(tx, kv.Str(d.ChatID)), s.Tables.Deleted.Delete(tx, kv.Str(d.ChatID)),
			s.Tables.Moves.Delete(tx, kv.Str(d.ChatID)), s.dropThreads(tx, d.ChatID),
			s.noteDropped(tx))
	})
	if err == nil && !d.Making {
		out.Chats++
	}
	s.Pause("purge:done")
	return err
}

// forgetWords takes a chat out of the search. What can't be read of a damaged
// chat stays there, and leads to a number that no chat has any more; a store
// that can't be used at all stops the purge in what comes next.
func (s *Store) forgetWords(ctx context.Context, chatID string) error {
	var chat *chat.Chat
	err := s.KV.View(ctx, func(tx *kv.Tx) (err error) {
		chat, err = s.Tables.Chats.Get(tx, kv.Str(chatID))
		return err
	})
	if err == nil {
		err = s.UnindexChat(ctx, chat)
	}
	if err != nil && ctx.Err() != nil {
		return err
	}
	return nil
}

// beginPurge notes that there is no way back any more, unless the chat was
// restored meanwhile.
func (s *Store) beginPurge(ctx context.Context, chatID string, p Purge) (begun bool, err error) {
	err = s.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		d, err := s.Tables.Deleted.Get(tx, kv.Str(chatID))
		if errors.Is(err, kv.ErrNotFound) || err == nil && !p.means(*d, s.Options.Now()) {
			return nil
		}
		if err != nil {
			return err
		}
		d.Purging, begun = true, true
		return s.Tables.Deleted.Put(tx, d)
	})
	return begun, err
}

// clearChat removes all that belongs to a chat but its own record. What leads
// to other records goes after them.
func (s *Store) clearChat(ctx context.Context, chatID string) (messages int, err error) {
	for {
		n, err := s.clearMessages(ctx, chatID)
		messages += n
		if err != nil {
			return messages, err
		}
		if n == 0 {
			break
		}
		s.Pause("purge:messages")
	}
	prefix := kv.Range{Prefix: kv.Str(chatID), Limit: purgeGroup}
	for _, table := range []Keyed{s.Tables.Parts, s.Tables.Grants, s.Tables.Payloads, s.Tables.Workflows, s.Tables.Apps, s.Tables.Branches, s.Tables.Marks, s.Tables.artifacts} {
		if err := s.ClearKeys(ctx, table, prefix); err != nil {
			return messages, err
		}
	}
	if err := s.clearCalls(ctx, chatID); err != nil {
		return messages, err
	}
	s.Pause("purge:calls")
	if err := s.dropStates(ctx, chatID); err != nil {
		return messages, err
	}
	s.Pause("purge:states")
	if err := s.removeFolder(ctx, chatID); err != nil && ctx.Err() == nil {
		// It is said once, and the records go: a folder that can't be removed
		// now would have every later command try again.
		s.Options.Notice("remove a deleted chat's folder by hand: " + err.Error())
	}
	return messages, ctx.Err()
}

// clearMessages removes a group of messages, each after its turn and that
// one's events, and tells how many it removed.
func (s *Store) clearMessages(ctx context.Context, chatID string) (int, error) {
	var keys []kv.Key
	var turns []string
	err := s.KV.View(ctx, func(tx *kv.Tx) error {
		for key, err := range s.Tables.Messages.Keys(tx, kv.Range{Prefix: kv.Str(chatID), Limit: purgeGroup}) {
			if err != nil {
				return err
			}
			keys = append(keys, key)
			m, err := s.Tables.Messages.Get(tx, key)
			var damaged *kv.CorruptError
			if errors.As(err, &damaged) {
				continue // its key is enough to remove it
			}
			if err != nil {
				return err
			}
			own, err := s.ownTurn(tx, chatID, m.TurnID)
			if err != nil {
				return err
			}
			if own {
				turns = append(turns, m.TurnID)
			}
		}
		return nil
	})
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	for _, turn := range slices.Compact(turns) {
		if err := s.ClearKeys(ctx, s.Tables.Events, kv.Range{Prefix: kv.Str(turn), Limit: purgeGroup}); err != nil {
			return 0, err
		}
	}
	s.Pause("purge:events")
	return len(keys), s.KV.Batch(ctx, func(b *kv.Batch) error {
		for _, turn := range turns {
			if err := s.Tables.Turns.Delete(b, kv.Str(turn)); err != nil {
				return err
			}
		}
		for _, key := range keys {
			if err := s.Tables.Messages.Delete(b, key); err != nil {
				return err
			}
		}
		return nil
	})
}

// ownTurn tells whether a turn is the chat's: a fork's messages still name the
// turns of the chat that they came from.
func (s *Store) ownTurn(tx *kv.Tx, chatID, turnID string) (bool, error) {
	if turnID == "" {
		return false, nil
	}
	turn, err := s.Tables.Turns.Get(tx, kv.Str(turnID))
	if errors.Is(err, kv.ErrNotFound) || err != nil && s.LeavesOut(err) {
		return false, nil
	}
	return err == nil && turn.ChatID == chatID, err
}

// Keyed is a table as far as removing from it goes.
type Keyed interface {
	// Keys yields the keys of a range.
	Keys(*kv.Tx, kv.Range) iter.Seq2[kv.Key, error]
	// Delete removes the record of a key, if there is one.
	Delete(kv.Writer, kv.Key) error
}

// ClearKeys removes the records of a range, group by group.
func (s *Store) ClearKeys(ctx context.Context, table Keyed, r kv.Range) error {
	for {
		var keys []kv.Key
		err := s.KV.View(ctx, func(tx *kv.Tx) error {
			for key, err := range table.Keys(tx, r) {
				if err != nil {
					return err
				}
				keys = append(keys, key)
			}
			return nil
		})
		if err != nil || len(keys) == 0 {
			return err
		}
		err = s.KV.Batch(ctx, func(b *kv.Batch) error {
			for _, key := range keys {
				if err := table.Delete(b, key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// clearCalls removes the records of a chat's tool calls. One that is damaged
// can't be told to be the chat's and stays.
func (s *Store) clearCalls(ctx context.Context, chatID string) error {
	for {
		var keys []kv.Key
		var turns []string // of pages' calls, which no message names
		err := s.KV.View(ctx, func(tx *kv.Tx) error {
			keys, turns = nil, nil
			for c, err := range Legible(s, s.Tables.Calls.ByIndex(tx, "chat", kv.Str(chatID), kv.Range{Limit: purgeGroup})) {
				if err != nil {
					return err
				}
				keys = append(keys, s.Tables.Calls.KeyOf(c))
				if own, err := s.ownTurn(tx, chatID, c.TurnID); err != nil {
					return err
				} else if own && c.AppOf != "" {
					turns = append(turns, c.TurnID)
				}
			}
			return nil
		})
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := s.clearTurns(ctx, turns); err != nil {
			return err
		}
		err = s.KV.Batch(ctx, func(b *kv.Batch) error {
			for _, key := range keys {
				if err := s.Tables.Calls.Delete(b, key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// PurgeDue is the part of a purge for which a command has time after it has
// answered. It opens the store only where something is due.
func (s *Store) PurgeDue(ctx context.Context, budget time.Duration) error {
	c, err := s.ReadCatalog()
	if err != nil || c.PurgeDue == nil || budget <= 0 || s.Options.Now().Before(*c.PurgeDue) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	_, err = s.PurgeChats(ctx, Purge{OlderThan: DeletedKept}) // what only they had goes with a collection
	if ctx.Err() != nil {
		return nil // the next command goes on
	}
	return err
}
