package chatcompletions

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// Thinking without end is an error before it fills the memory.
func TestThinkingHasAnEnd(t *testing.T) {
	t.Parallel()
	var c thoughtChunks
	long := bytes.Repeat([]byte{' '}, wire.MaxBody/2)
	piece := contentPiece{thinking: []json.RawMessage{append([]byte(`{"type":"text","text":"a"}`), long...)}}
	if _, err := c.add(piece); err != nil {
		t.Fatal(err)
	}
	if _, err := c.add(piece); err == nil {
		t.Error("it took more than there is room for")
	}
	if _, err := c.add(contentPiece{signature: string(long)}); err == nil {
		t.Error("a signature was accepted that exceeds the limit")
	}
}
