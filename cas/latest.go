package cas

import (
	"context"

	"github.com/fettle-cli/fettle/internal/kv"
)

// Latest gives the manifest of a chat that was made last; nil where it has none.
func (s *Store) Latest(ctx context.Context, chatID string) (*Manifest, error) {
	var last *Manifest
	err := s.kv.View(ctx, func(tx *kv.Tx) error {
		for m, err := range s.manifests.ByIndex(tx, "chat", kv.Str(chatID), kv.Range{Reverse: true, Limit: 1}) {
			if err != nil {
				return err
			}
			last = m
		}
		return nil
	})
	return last, err
}
