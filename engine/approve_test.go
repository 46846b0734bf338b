package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

// bound is a request whose tools work in a folder of the user's, where a
// change wants an approval.
func bound(t *testing.T, b *bench) TurnRequest {
	req := ask("write")
	req.Workspace = filepath.Join(b.dir, "project")
	if err := os.MkdirAll(req.Workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	return req
}

func TestWhereNobodyCanBeAskedTheCallIsDenied(t *testing.T) {
	t.Parallel()
	b := newBench(t, toolScript)
	req := bound(t, b)
	events := b.run(req)
	want(t, events, `"I write it down."`, "meta tool_use", "tool_start write_file",
		"tool_complete write_file error", `"Done."`, "meta stop", "complete")
	if p := last[event.Complete](t, events).Payload; p.Denied != 1 {
		t.Errorf("%d denied", p.Denied)
	}
	if left := files(t, req.Workspace); len(left) != 0 {
		t.Errorf("written all the same: %v", left)
	}
}

func TestAPersonDecides(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer Confirmation
		status string
		again  string // of the same call in a second turn
	}{
		"once":         {Confirmation{Decision: event.Allow}, "success", "ask"},
		"for the chat": {Confirmation{Decision: event.AllowChat}, "success", "run"},
		"always":       {Confirmation{Decision: event.AllowAlways}, "success", "run"},
		"no":           {Confirmation{Decision: event.Deny, Reason: "not there"}, "error", "ask"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, `
responses:
  - step: 0
    calls: [{name: write_file, args: {path: notes/a.txt, content: "one\n"}}]
  - step: 1
    text: Done.
`)
			req := bound(t, b)
			req.CanConfirm = true
			id := b.start(req)
			asked := b.waitFor(id, event.TypeConfirmRequest).Body.(event.ConfirmRequest)
			if !strings.Contains(asked.Reason, req.Workspace) || asked.Tool != "write_file" {
				t.Errorf("asked %+v", asked)
			}
			if err := b.Confirm(t.Context(), id, Confirmation{ToolUseID: "other"}); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("an answer to nothing: %v", err)
			}
			c.answer.ToolUseID = asked.ToolUseID
			if err := b.Confirm(t.Context(), id, c.answer); err != nil {
				t.Fatal(err)
			}
			events := b.follow(id)
			want(t, events, "meta tool_use", "confirm_request", "confirm_result", "tool_start write_file",
				"tool_complete write_file "+c.status, `"Done."`, "meta stop", "complete")
			if e := find[event.ToolComplete](events); c.answer.Reason != "" && !strings.Contains(e.Result, c.answer.Reason) {
				t.Errorf("the model isn't told why: %q", e.Result)
			}
			req = ask("again")
			req.Chat.Last, req.CanConfirm = true, true
			other := b.reopen()
			id = other.start(req)
			first := other.firstOf(id, event.TypeConfirmRequest, event.TypeToolComplete)
			if got := map[event.Type]string{event.TypeConfirmRequest: "ask", event.TypeToolComplete: "run"}[first.Type()]; got != c.again {
				t.Errorf("the next turn: %s, want %s", got, c.again)
			}
			other.Cancel(t.Context(), id)
			other.follow(id)
		})
	}
}

func (b *bench) firstOf(id store.TurnID, types ...event.Type) event.Event {
	b.t.Helper()
	for e, err := range b.Follow(context.Background(), id, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		for _, typ := range types {
			if e.Type() == typ {
				return e
			}
		}
	}
	b.t.Fatalf("none of %v came", types)
	return event.Event{}
}

func find[B event.Body](events []event.Event) (b B) {
	for _, e := range events {
		if got, ok := e.Body.(B); ok {
			return got
		}
	}
	return b
}

func TestCancelWhileAPersonIsAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t, toolScript)
	req := bound(t, b)
	req.CanConfirm = true
	id := b.start(req)
	b.waitFor(id, event.TypeConfirmRequest)
	b.Cancel(t.Context(), id)
	want(t, b.follow(id), `"I write it down."`, "meta tool_use", "confirm_request",
		"tool_start write_file", "tool_complete write_file error", "cancelled")
}
