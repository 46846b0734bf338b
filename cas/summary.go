package cas

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/kv"
)

// Summary says what uses the store's room, by what was counted as it was kept:
// it costs a record a chat, however many states there are. [Store.Stats] measures
// it, by reading all trees.
type Summary struct {
	States int
	// Added is what all states have brought into the store and no collection has
	// removed since.
	Added int64
	// Files and FileBytes are the large blobs on the disk.
	Files     int
	FileBytes int64
	// RecordBytes is the size of the folder in which the records are, which holds
	// small blobs and everything else that fettle keeps.
	RecordBytes int64
	Chats       []ChatSummary // those that brought the most first
}

// ChatSummary is what one chat has brought into the store.
type ChatSummary struct {
	ChatID string
	States int
	Added  int64
	Last   *Manifest // its last state; nil where it has none any more
}

// Summary gives what was counted.
func (s *Store) Summary(ctx context.Context) (*Summary, error) {
	release, err := s.share(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	out := new(Summary)
	err = s.countOnce(ctx)
	if err == nil {
		err = s.counted(ctx, out)
	}
	if err == nil {
		err = s.eachFile(func(_ string, _ Digest, size int64) error {
			out.Files, out.FileBytes = out.Files+1, out.FileBytes+size
			return nil
		})
	}
	if err == nil {
		out.RecordBytes, err = folderSize(s.kv.Dir())
	}
	if err != nil {
		return nil, fmt.Errorf("look what uses the store: %w", err)
	}
	slices.SortFunc(out.Chats, func(a, b ChatSummary) int {
		if a.Added != b.Added {
			return int(min(max(b.Added-a.Added, -1), 1))
		}
		return strings.Compare(a.ChatID, b.ChatID)
	})
	return out, nil
}

// countOnce counts the states for accounts of a program that didn't, and notes
// that it did.
func (s *Store) countOnce(ctx context.Context) error {
	known := false
	err := s.kv.View(ctx, func(tx *kv.Tx) error {
		all, err := s.usage.Get(tx, kv.Str(allChats))
		if known = errors.Is(err, kv.ErrNotFound) || err == nil && all.Counted; known {
			return nil
		}
		return err
	})
	if known || err != nil {
		return err
	}
	return s.kv.Update(ctx, func(tx *kv.Tx) error {
		states := map[string]int{allChats: 0}
		for m, err := range s.manifests.Scan(tx, kv.Range{}) {
			if isDamaged(err) {
				continue // verifying reports it
			}
			if err != nil {
				return err
			}
			for _, chat := range accounts(m.ChatID) {
				states[chat]++
			}
		}
		for chat, n := range states {
			u, err := s.used(tx, chat)
			if err != nil {
				return err
			}
			u.States, u.Counted = n, chat == allChats
			if err := s.usage.Put(tx, &u); err != nil {
				return err
			}
		}
		return nil
	})
}

// counted reads the accounts, a View for some of them at a time.
func (s *Store) counted(ctx context.Context, out *Summary) error {
	for after := kv.Key(nil); ; {
		n, begin := 0, after
		err := s.kv.View(ctx, func(tx *kv.Tx) error {
			hidden, err := s.unrecorded(tx)
			if err != nil {
				return err
			}
			for u, err := range s.usage.Scan(tx, kv.Range{After: after, Limit: readAtOnce}) {
				n++
				if isDamaged(err) {
					continue // the next collection counts again
				}
				if err != nil {
					return err
				}
				after = kv.Str(u.ChatID)
				if u.ChatID == allChats {
					out.States, out.Added = u.States, u.Bytes
					continue
				}
				last, err := s.last(tx, u.ChatID, hidden)
				if err != nil {
					return err
				}
				out.Chats = append(out.Chats, ChatSummary{ChatID: u.ChatID, States: u.States, Added: u.Bytes, Last: last})
			}
			return nil
		})
		if err != nil || n < readAtOnce || string(begin) == string(after) {
			return err
		}
	}
}

// isDamaged reports whether an error is about one damaged record.
func isDamaged(err error) bool {
	var corrupt *kv.CorruptError
	return errors.As(err, &corrupt) && corrupt.OfRecord()
}

// last is the last manifest of a chat, apart from the hidden ones; nil where it has
// none that can be read.
func (s *Store) last(tx *kv.Tx, chatID string, hidden map[string]bool) (*Manifest, error) {
	for m, err := range s.manifests.ByIndex(tx, "chat", kv.Str(chatID), kv.Range{Reverse: true, Limit: 1 + len(hidden)}) {
		var corrupt *kv.CorruptError
		if errors.As(err, &corrupt) {
			return nil, nil
		}
		if err == nil && hidden[m.ID] {
			continue
		}
		return m, err
	}
	return nil, nil
}
