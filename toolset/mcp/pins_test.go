package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/mcp"
)

// Tools that somebody approves while the server starts count from its first call on,
// and not those that it was started with.
func TestApprovalWhileAServerStarts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	report, err := w.Look(t.Context(), server(t, "normal"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, ws := server(t, "slow-list"), managed(t)
	s.ID = "slow"
	approved := make([]toolset.Tool, 0, len(report.Tools))
	for _, tool := range report.Tools {
		tool.ID = "slow:" + tool.BareID()
		approved = append(approved, tool)
	}
	run := func(ctx context.Context, pinned []toolset.Tool) error {
		s.Pinned = pinned
		_, err := w.Runner(s, toolset.Tool{ID: "slow:echo"}).Run(ctx, toolset.Call{Args: json.RawMessage(`{}`), Workspace: ws})
		return err
	}
	first := make(chan error, 1)
	starting := w.Runner(func() mcp.Server { s := s; s.Pinned = []toolset.Tool{}; return s }(), toolset.Tool{ID: "slow:echo"})
	go func() {
		_, err := starting.Run(t.Context(), toolset.Call{Args: json.RawMessage(`{}`), Workspace: ws})
		first <- err
	}()
	await(t, func() bool {
		_, err := os.Stat(filepath.Join(ws.Path, "noted-listing"))
		return err == nil
	})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(gone, approved); !errors.Is(err, context.Canceled) { // brings the list, and doesn't wait
		t.Fatal(err)
	}
	if err := ws.Root.WriteFile("go-on", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-first; err != nil {
		t.Errorf("the one that started it: %v", err)
	}
	if err := run(t.Context(), approved); err != nil {
		t.Errorf("the next one: %v", err)
	}
}
