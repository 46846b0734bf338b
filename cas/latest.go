package cas

import (
	"context"

	"github.com/fettle-cli/fettle/internal/kv"
)

// Latest gives the manifest of a chat that was made last; nil where it has none.
func (s *Store) Latest(ctx context.Context, chatID string) (*Manifest, error) {
	var last *Manifest
	err := s.kv.View(ctx, func(tx *kv.Tx) error {
		not, err := s.unrecorded(tx)
		if err != nil {
			return err
		}
		for m, err := range s.manifests.ByIndex(tx, "chat", kv.Str(chatID), kv.Range{Reverse: true, Limit: 1 + len(not)}) {
			if err != nil {
				return err
			}
			if !not[m.ID] {
				last = m
				return nil
			}
		}
		return nil
	})
	return last, err
}

// Guard keeps the collector away until release is called, as snapshots do: what
// the store has stays there.
func (s *Store) Guard(ctx context.Context) (release func(), err error) { return s.share(ctx) }

// GuardAlone keeps away whatever writes or needs what the store has: snapshots,
// restores, exports and the collector.
func (s *Store) GuardAlone(ctx context.Context) (release func(), err error) { return s.alone(ctx) }

// NewEpoch lets no stat cache be believed that was written before: contents were
// put back from a copy, and others may be gone.
func (s *Store) NewEpoch() error { return s.nextEpoch() }
