package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// undoCall undoes one step, which has to be possible.
func (b *bench) undoCall(req workspace.RestoreRequest) *workspace.Restored {
	b.t.Helper()
	req.Chat = lastChat
	out, err := b.Undo(b.t.Context(), req)
	if err != nil {
		b.t.Fatalf("undo of %s: %v", req.Call, err)
	}
	return out
}

// isUndone reports what the views of a chat show of a call, which have to agree.
func (b *bench) isUndone(call string) bool {
	b.t.Helper()
	conv := b.chat(1)
	view, err := b.ViewCall(b.t.Context(), call)
	if err != nil {
		b.t.Fatal(err)
	}
	doc, _, err := b.ExportChat(b.t.Context(), lastChat)
	if err != nil {
		b.t.Fatal(err)
	}
	_, states, _, err := b.States(b.t.Context(), lastChat, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	_, tree, _, err := b.StateTree(b.t.Context(), lastChat, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	views, err := b.ViewCalls(b.t.Context(), conv.Chat.ID, conv.Messages)
	if err != nil {
		b.t.Fatal(err)
	}
	got := map[string]bool{"view": view.Undone}
	for where, messages := range map[string][]chat.Message{"chat": conv.Messages, "export": doc.Messages} {
		for _, m := range messages {
			for _, p := range m.Parts {
				if m.ID == view.MessageID && p.Result != nil && p.Result.ID == view.ToolUseID {
					got[where] = p.Result.Undone
				}
			}
		}
	}
	for where, list := range map[string][]store.StateInfo{"states": states, "tree": tree} {
		for _, s := range list {
			if s.Source == cas.ToolRun && s.SourceRef == call {
				got[where] = s.Undone || s.Reverted
			}
		}
	}
	for _, v := range views {
		if v.ID == call {
			got["views"] = v.Undone
		}
	}
	if len(got) != 6 {
		b.t.Errorf("call %s is shown by %v alone", call, got)
	}
	for where, undone := range got {
		if undone != view.Undone {
			b.t.Errorf("call %s is undone by %v, and %v says %t", call, got, where, undone)
		}
	}
	return view.Undone
}

func TestUndoOfOneCallLeavesWhatWasDoneAfterIt(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"its own", "the user's"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			b := changer(t, t.TempDir())
			if place == "its own" {
				b.did(store.ChatRef{}, `{"put":{"ground":"0","gone":"0"}}`)
			} else {
				b.boundTo(t.TempDir(), `{"put":{"ground":"0","gone":"0"}}`)
			}
			one := b.did(lastChat, `{"put":{"a":"1","d/x":"1"},"rm":["gone"]}`).CallID
			two := b.did(lastChat, `{"put":{"b":"2","d/y":"2"}}`).CallID
			b.puts(1, map[string]string{"mine": "by hand"})

			done := b.undoCall(workspace.RestoreRequest{Call: one})
			b.sees(1, map[string]string{"ground": "0", "gone": "0", "b": "2", "d/y": "2", "mine": "by hand"})
			if done.Inverse != "redo" || !done.One || len(done.Steps) != 1 || done.Steps[0].Tool != "change" {
				t.Errorf("it is %+v", done)
			}
			if got := done.Summary(); got.Counts() != "restored 1 file, removed 2" || got.Names() != "a, d/x, gone" {
				t.Errorf("it says %q, %q", got.Counts(), got.Names())
			}
			if !b.isUndone(one) || b.isUndone(two) {
				t.Error("the calls are not marked as they should be")
			}
			if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat, Call: one}); fault.CodeOf(err) != fault.NotFound || !strings.Contains(err.Error(), "undone already") {
				t.Errorf("once more: %v", err)
			}
			// The undo is a step itself, which is undone by itself or with what was done since.
			b.undo(1)
			b.sees(1, map[string]string{"ground": "0", "a": "1", "b": "2", "d/x": "1", "d/y": "2", "mine": "by hand"})
			if b.isUndone(one) {
				t.Error("it is marked when the undo is undone")
			}
			b.redo(1)
			third := b.did(lastChat, `{"put":{"c":"3"}}`).CallID
			b.undoCall(workspace.RestoreRequest{Call: done.After.ID})
			b.sees(1, map[string]string{"ground": "0", "a": "1", "b": "2", "c": "3", "d/x": "1", "d/y": "2", "mine": "by hand"})
			if b.isUndone(one) || b.isUndone(third) {
				t.Error("it is marked when the undo is undone alone")
			}
			b.undoCall(workspace.RestoreRequest{Call: one})
			b.sees(1, map[string]string{"ground": "0", "gone": "0", "b": "2", "c": "3", "d/y": "2", "mine": "by hand"})
			if !b.isUndone(one) {
				t.Error("it is not marked when it is undone again")
			}
		})
	}
}

// Redo brings back what an undo of one call reverted, one such undo at a time, and undo
// reverts the redo. Nothing is left to redo then.
func TestRedoBringsBackWhatAnUndoOfOneCallReverted(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"ground":"0"}}`)
	one := b.did(lastChat, `{"put":{"a":"1"}}`).CallID
	two := b.did(lastChat, `{"put":{"b":"2"}}`).CallID
	b.did(lastChat, `{"put":{"c":"3"}}`)
	b.undoCall(workspace.RestoreRequest{Call: one})
	b.undoCall(workspace.RestoreRequest{Call: two})
	sees := func(names string) {
		t.Helper()
		want := map[string]string{"ground": "0", "c": "3"}
		for i, name := range []string{"a", "b"} {
			if strings.Contains(names, name) {
				want[name] = fmt.Sprint(i + 1)
			}
		}
		b.sees(1, want)
		if b.isUndone(one) == strings.Contains(names, "a") || b.isUndone(two) == strings.Contains(names, "b") {
			t.Errorf("the calls are not marked as with %q", names)
		}
	}
	redo := func() *workspace.Restored {
		t.Helper()
		done, err := b.Redo(t.Context(), workspace.RestoreRequest{Chat: lastChat})
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	sees("")
	if done := redo(); done.Inverse != "undo" || !done.One {
		t.Errorf("it is %+v", done)
	}
	sees("b")
	redo()
	sees("ab")
	if _, err := b.Redo(t.Context(), workspace.RestoreRequest{Chat: lastChat}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("there is more to redo: %v", err)
	}
	b.undo(1)
	sees("b")
	b.redo(1)
	sees("ab")
	b.did(lastChat, `{"put":{"c":"3"}, "rm": ["ground"]}`)
	if _, err := b.Redo(t.Context(), workspace.RestoreRequest{Chat: lastChat}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("there is something to redo after a call: %v", err)
	}
}

// What an undo kept is left alone by the redo that reverts it, with and without Overwrite
// and in one go or step by step; and so the other way round.
func TestWhatWasKeptIsLeftAloneByTheInverse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps     int
		overwrite bool
	}{"at once": {2, false}, "step by step": {1, false}, "at once, overwriting": {2, true}, "step by step, overwriting": {1, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := changer(t, t.TempDir())
			b.did(store.ChatRef{}, `{"put":{"a":"0","b":"0"}}`)
			b.did(lastChat, `{"put":{"a":"1","b":"1"}}`)
			b.did(lastChat, `{"put":{"b":"2"}}`)
			b.puts(1, map[string]string{"a": "mine"})
			inverse := func(do func(context.Context, workspace.RestoreRequest) (*workspace.Restored, error)) {
				t.Helper()
				for range 2 / c.steps {
					if _, err := do(t.Context(), workspace.RestoreRequest{Chat: lastChat, Steps: c.steps, Overwrite: c.overwrite}); err != nil {
						t.Fatal(err)
					}
				}
			}
			keep := workspace.RestoreRequest{Chat: lastChat, Steps: 2, Keep: []string{"a"}}
			if _, err := b.Undo(t.Context(), keep); err != nil {
				t.Fatal(err)
			}
			b.sees(1, map[string]string{"a": "mine", "b": "0"})
			inverse(b.Redo)
			b.sees(1, map[string]string{"a": "mine", "b": "2"})
			if _, err := b.Undo(t.Context(), keep); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Redo(t.Context(), keep); err != nil {
				t.Fatal(err)
			}
			inverse(b.Undo)
			b.sees(1, map[string]string{"a": "mine", "b": "0"})
			// Changed once more, it is in the way.
			inverse(b.Redo)
			b.puts(1, map[string]string{"a": "newer"})
			if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat, Steps: 2}); err == nil {
				t.Error("an undo goes over a file that was changed since")
			}
		})
	}
}

// Where a later call or the user has changed a file of the call's, nothing is done, and each
// file is listed with what changed it.
func TestUndoOfOneCallListsWhatWasChangedSince(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"its own", "the user's"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			b := changer(t, t.TempDir())
			if place == "its own" {
				b.did(store.ChatRef{}, `{"put":{"ground":"0"}}`)
			} else {
				b.boundTo(t.TempDir(), `{"put":{"ground":"0"}}`)
			}
			one := b.did(lastChat, `{"put":{"a":"1","b":"1","c":"1"}}`).CallID
			two := b.did(lastChat, `{"put":{"a":"2"}}`).CallID
			b.puts(1, map[string]string{"b": "by hand"})
			now := map[string]string{"ground": "0", "a": "2", "b": "by hand", "c": "1"}

			_, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat, Call: one})
			var f *fault.Fault
			if !errors.As(err, &f) || len(f.Detail) != 2 || !strings.HasPrefix(f.Detail[0], "a  the later call "+two[len(two)-8:]+" (change) changed it") ||
				!strings.HasPrefix(f.Detail[1], "b  someone else changed it since") {
				t.Fatalf("it lists %v", f)
			}
			b.sees(1, now)
			plan := b.undoCall(workspace.RestoreRequest{Call: one, Plan: true})
			if len(plan.Blocked) != 2 || plan.Blocked[0].Path != "a" || plan.Blocked[1].Path != "b" {
				t.Errorf("the plan has %v in the way", plan.Blocked)
			}
			b.undoCall(workspace.RestoreRequest{Call: one, Keep: []string{"a", "b"}})
			b.sees(1, map[string]string{"ground": "0", "a": "2", "b": "by hand"})
			b.undo(1)
			b.sees(1, now)
			b.undoCall(workspace.RestoreRequest{Call: one, Overwrite: true})
			b.sees(1, map[string]string{"ground": "0"})
			b.undo(1)
			b.sees(1, now)
		})
	}
}

// The last call is undone as by undo without a name, so that redo restores it.
func TestUndoOfTheLastCallByItsNameCanBeRedone(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a":"1"}}`)
	last := b.did(lastChat, `{"put":{"a":"2"}}`).CallID
	if done := b.undoCall(workspace.RestoreRequest{Call: last[len(last)-8:]}); done.Inverse != "redo" {
		t.Errorf("it is reverted by %s", done.Inverse)
	}
	b.sees(1, map[string]string{"a": "1"})
	if !b.isUndone(last) {
		t.Error("it is not marked")
	}
	if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat, Call: last}); fault.CodeOf(err) != fault.NotFound || !strings.Contains(err.Error(), "undone already") {
		t.Errorf("once more: %v", err)
	}
	b.redo(1)
	b.sees(1, map[string]string{"a": "2"})
	if b.isUndone(last) {
		t.Error("it is marked when it is redone")
	}
	b.undo(1)
	b.did(lastChat, `{"put":{"b":"3"}}`)
	if !b.isUndone(last) {
		t.Error("it is not marked when something new was done")
	}
}
