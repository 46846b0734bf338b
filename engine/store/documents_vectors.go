package store

import (
	"context"
)

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
