package catalog

import (
	"encoding/json"
	"sync"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/toolset"
)

const (
	// maxSchemas and maxSchemaBytes bound what is kept of compiled schemas: the
	// tools of a few toolsets, each with two, and no more than a few megabytes
	// of theirs.
	maxSchemas     = 512
	maxSchemaBytes = 2 << 20
)

// SchemaCache keeps the tools' compiled schemas. Compiling one takes many times as
// long as checking arguments against it, and a model calls the same few tools
// again and again. The zero value is empty; it is safe for concurrent use.
type SchemaCache struct {
	mu    sync.Mutex
	made  map[string]*schema.Schema // by its text
	bytes int
}

// Compile gives a schema, compiling it where that wasn't done before. One that
// can't be used is tried again each time; it is refused quickly.
func (s *SchemaCache) Compile(raw []byte) (*schema.Schema, error) {
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

// CheckResult refuses a result that events can't hold, and holds its data
// against the tool's output_schema.
func (s *SchemaCache) CheckResult(t toolset.Tool, res toolset.Result) error {
	media := 0
	for _, m := range res.Media {
		media += len(m.Data)
	}
	if media > chat.MaxData {
		return toolset.Errorf("the tool's images and sounds have %d MB; %d MB are allowed: put them into files of the workspace",
			media>>20, chat.MaxData>>20)
	}
	for _, part := range []struct {
		name string
		raw  json.RawMessage
	}{{"data", res.Data}, {"workspace_payload", res.WorkspacePayload}, {"payload", res.Payload}} {
		switch {
		case len(part.raw) > chat.MaxData:
			return toolset.Errorf("the tool's %s has %d MB; %d MB are allowed: put it into a file of the workspace",
				part.name, len(part.raw)>>20, chat.MaxData>>20)
		case len(part.raw) > 0 && !json.Valid(part.raw):
			return toolset.Errorf("the tool's %s is no JSON", part.name)
		}
	}
	if len(t.OutputSchema) == 0 || len(res.Data) == 0 {
		return nil
	}
	compiled, err := s.Compile(t.OutputSchema)
	if err != nil {
		return toolset.Errorf("the tool's output_schema can't be used: %v", err)
	}
	if problems := compiled.Validate(res.Data); len(problems) > 0 {
		return toolset.Errorf("the tool's result doesn't fit its output_schema:\n%s", schema.Explain(problems))
	}
	return nil
}
