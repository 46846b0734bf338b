package mcp_test

import (
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

// patience bounds a wait for a condition on a loaded machine.
const patience = time.Minute

// await waits until something holds.
func await(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never came to hold")
		}
	}
}

// managed is a workspace.
func managed(t *testing.T) *toolset.Workspace {
	t.Helper()
	ws, err := toolset.OpenManaged(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

// clock goes on when it is told to.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Now()} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}
