package engine

import (
	"context"
	"errors"
	"time"

	"github.com/fettle-cli/fettle/internal/kv"
)

const (
	// indexKept is how long the vectors of a model are kept that no search used.
	indexKept = 90 * 24 * time.Hour
	// indexNoted is how old the note of the last use may be: a search should write nothing.
	indexNoted = 24 * time.Hour
)

// documentIndex is the record of the vectors of one model. It is for their removal.
type documentIndex struct {
	Name   string    `json:"name"`
	UsedAt time.Time `json:"used_at"`
}

// noteUse notes that a search used the index, unless that is noted already.
func (x *passageIndex) noteUse(ctx context.Context) error {
	e, now := x.s.e, x.s.e.o.Now()
	fresh := false
	err := e.view(ctx, func(tx *kv.Tx) error {
		r, err := e.tables.indexes.Get(tx, kv.Str(x.name))
		fresh = err == nil && now.Sub(r.UsedAt) < indexNoted
		if err != nil && unreadable(err) {
			err = nil
		}
		return err
	})
	if err != nil || fresh {
		return err
	}
	release, err := e.shareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	err = e.store.Update(ctx, func(tx *kv.Tx) error {
		return e.tables.indexes.Put(tx, &documentIndex{Name: x.name, UsedAt: now})
	})
	if err != nil {
		return waitFault(ctx, "note the use of the vectors of documents", err)
	}
	return nil
}

// dropVectors removes parts by their keys.
func (s *Store) dropVectors(ctx context.Context, keys []kv.Key) error {
	release, err := s.shareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	err = inParts(ctx, s.store, keys, wordsUpdate, func(tx *kv.Tx, key kv.Key) error {
		return s.tables.passages.Delete(tx, key)
	})
	if err != nil {
		return waitFault(ctx, "remove vectors of documents", err)
	}
	return nil
}

// purgeVectors removes the vectors of documents that were removed for good, and of models
// that no search has used for indexKept.
func (s *Store) purgeVectors(ctx context.Context) error {
	var drop []kv.Key
	err := s.view(ctx, func(tx *kv.Tx) (err error) {
		drop, err = s.unneededVectors(tx)
		return err
	})
	if err != nil && (errors.Is(err, kv.ErrNotFound) || s.leavesOut(err)) {
		return nil // with a damaged record it is unknown what is needed
	}
	if err != nil || len(drop) == 0 {
		return err
	}
	return s.dropVectors(ctx, drop)
}

func (s *Store) unneededVectors(tx *kv.Tx) (drop []kv.Key, err error) {
	used := map[string]bool{}
	for r, err := range legible(s, s.tables.indexes.Scan(tx, kv.Range{})) {
		if err != nil {
			return nil, err
		}
		used[r.Name] = s.o.Now().Sub(r.UsedAt) < indexKept
	}
	digests := map[string]bool{}
	for d, err := range s.tables.documents.Scan(tx, kv.Range{}) {
		if err != nil {
			return nil, err
		}
		digests[d.SHA256] = true
	}
	for key, err := range s.tables.passages.Keys(tx, kv.Range{}) {
		if err != nil {
			return nil, err
		}
		p, err := readPartKey(key)
		if err != nil {
			return nil, err
		}
		if !used[p.index] || !digests[p.digest] {
			drop = append(drop, key)
		}
	}
	return drop, nil
}
