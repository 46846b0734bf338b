package store

import (
	"context"
	"slices"
)

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
