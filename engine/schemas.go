package engine

import (
	"sync"

	"github.com/fettle-cli/fettle/internal/schema"
)

const (
	// maxSchemas and maxSchemaBytes bound what is kept of compiled schemas: the
	// tools of a few toolsets, each with two, and no more than a few megabytes
	// of theirs.
	maxSchemas     = 512
	maxSchemaBytes = 2 << 20
)

// schemas keeps the tools' compiled schemas. Compiling one takes many times as
// long as checking arguments against it, and a model calls the same few tools
// again and again. The zero value is empty; it is safe for concurrent use.
type schemas struct {
	mu    sync.Mutex
	made  map[string]*schema.Schema // by its text
	bytes int
}

// compile gives a schema, compiling it where that wasn't done before. One that
// can't be used is tried again each time; it is refused quickly.
func (s *schemas) compile(raw []byte) (*schema.Schema, error) {
	s.mu.Lock()
	made := s.made[string(raw)]
	s.mu.Unlock()
	if made != nil {
		return made, nil
	}
	made, err := schema.Compile(raw)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.made) >= maxSchemas || s.bytes+len(raw) > maxSchemaBytes {
		s.made, s.bytes = nil, 0 // what is in use comes back by itself
	}
	if s.made == nil {
		s.made = map[string]*schema.Schema{}
	}
	if _, there := s.made[string(raw)]; !there {
		s.made[string(raw)] = made
		s.bytes += len(raw)
	}
	return made, nil
}
