package store

import (
	"context"
	"errors"
	"time"

	"github.com/fettle-cli/fettle/internal/kv"
)

// IndexKept is how long the vectors of a model are kept that no search used.
const IndexKept = 90 * 24 * time.Hour

// DocumentIndex is the record of the vectors of one model. It is for their removal.
type DocumentIndex struct {
	Name   string    `json:"name"`
	UsedAt time.Time `json:"used_at"`
}

// DropVectors removes parts by their keys.
func (s *Store) DropVectors(ctx context.Context, keys []kv.Key) error {
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	err = inParts(ctx, s.KV, keys, WordsUpdate, func(tx *kv.Tx, key kv.Key) error {
		return s.Tables.Passages.Delete(tx, key)
	})
	if err != nil {
		return WaitFault(ctx, "remove vectors of documents", err)
	}
	return nil
}

// purgeVectors removes the vectors of documents that were removed for good, and of models
// that no search has used for indexKept.
func (s *Store) purgeVectors(ctx context.Context) error {
	var drop []kv.Key
	err := s.View(ctx, func(tx *kv.Tx) (err error) {
		drop, err = s.unneededVectors(tx)
		return err
	})
	if err != nil && (errors.Is(err, kv.ErrNotFound) || s.LeavesOut(err)) {
		return nil // with a damaged record it is unknown what is needed
	}
	if err != nil || len(drop) == 0 {
		return err
	}
	return s.DropVectors(ctx, drop)
}

func (s *Store) unneededVectors(tx *kv.Tx) (drop []kv.Key, err error) {
	used := map[string]bool{}
	for r, err := range Legible(s, s.Tables.Indexes.Scan(tx, kv.Range{})) {
		if err != nil {
			return nil, err
		}
		used[r.Name] = s.Options.Now().Sub(r.UsedAt) < IndexKept
	}
	digests := map[string]bool{}
	for d, err := range s.Tables.Documents.Scan(tx, kv.Range{}) {
		if err != nil {
			return nil, err
		}
		digests[d.SHA256] = true
	}
	for key, err := range s.Tables.Passages.Keys(tx, kv.Range{}) {
		if err != nil {
			return nil, err
		}
		p, err := ReadPartKey(key)
		if err != nil {
			return nil, err
		}
		if !used[p.index] || !digests[p.Digest] {
			drop = append(drop, key)
		}
	}
	return drop, nil
}
