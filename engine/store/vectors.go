package store

import (
	"context"
	"errors"
	"slices"
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
// that no search has used for IndexKept.
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

// EmbeddingDocuments waits for other searches of this process that embed documents, so that
// no document is embedded twice. Another process may; it writes the same.
func (s *Store) EmbeddingDocuments(ctx context.Context) (release func(), err error) {
	select {
	case s.indexing <- struct{}{}:
		return func() { <-s.indexing }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// StoredPart is a part that is in the store.
type StoredPart struct {
	Key    kv.Key
	index  string // its name
	Digest string
	Of     int // how many parts the document has
}

var errPartKey = errors.New("a key of the vectors of documents is damaged")

// ReadPartKey reads the key of a stored part.
func ReadPartKey(key kv.Key) (p StoredPart, err error) {
	parts, err := key.Parts()
	if err != nil {
		return p, err
	}
	if len(parts) == 4 {
		index, isIndex := parts[0].(string)
		digest, isDigest := parts[1].(string)
		of, isOf := parts[3].(int64)
		if isIndex && isDigest && isOf {
			return StoredPart{key, index, digest, int(of)}, nil
		}
	}
	return p, errPartKey
}

// TextDocuments returns the documents that have text, and only the first by name of those
// that have the same.
func (s *Store) TextDocuments(ctx context.Context) ([]Document, error) {
	all, err := s.Documents(ctx, false)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(d Document) bool {
		if d.MIME != TextMIME || seen[d.SHA256] {
			return true
		}
		seen[d.SHA256] = true
		return false
	}), nil
}
