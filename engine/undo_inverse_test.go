package engine

import (
	"maps"
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// overwritten is a chat in whose folder undo, redo and restore replace what the user did.
type overwritten struct {
	*bench
	t *testing.T
}

func (o overwritten) can(do func(workspace.RestoreRequest) (*workspace.Restored, error), steps int) *workspace.Restored {
	o.t.Helper()
	out, err := do(workspace.RestoreRequest{Chat: lastChat, Steps: steps, Overwrite: true})
	if err != nil {
		o.t.Fatal(err)
	}
	return out
}

func (o overwritten) back(r workspace.RestoreRequest) (*workspace.Restored, error) {
	return o.Undo(o.t.Context(), r)
}
func (o overwritten) on(r workspace.RestoreRequest) (*workspace.Restored, error) {
	return o.Redo(o.t.Context(), r)
}

// What undo, redo and restore replace is restored by the inverse of each, in the chat's own
// folder and in the user's.
func TestWhatIsOverwrittenIsRestoredByTheInverse(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"its own", "the user's"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			b := overwritten{changer(t, t.TempDir()), t}
			if place == "its own" {
				b.did(store.ChatRef{}, `{"put":{"a":"0","b":"0"}}`)
			} else {
				b.boundTo(t.TempDir(), `{"put":{"a":"0","b":"0"}}`)
			}
			b.did(lastChat, `{"put":{"a":"1"}}`)
			second := b.did(lastChat, `{"put":{"a":"2","new":"2"}}`)

			b.put(1, "a", "by hand")
			if _, err := b.back(workspace.RestoreRequest{Chat: lastChat}); fault.CodeOf(err) != fault.Failed {
				t.Errorf("undo over an edit: %v", err)
			}
			b.can(b.back, 1)
			b.sees(1, map[string]string{"a": "1", "b": "0"})
			b.redo(1)
			b.sees(1, map[string]string{"a": "by hand", "b": "0", "new": "2"})
			// It is the user's still.
			if _, err := b.back(workspace.RestoreRequest{Chat: lastChat}); fault.CodeOf(err) != fault.Failed {
				t.Errorf("undo over an edit that redo restored: %v", err)
			}

			// Over two steps, and the other way round.
			b.can(b.back, 2)
			b.sees(1, map[string]string{"a": "0", "b": "0"})
			b.put(1, "a", "by hand again")
			b.can(b.on, 2)
			b.sees(1, map[string]string{"a": "by hand", "b": "0", "new": "2"})
			b.can(b.back, 2)
			b.sees(1, map[string]string{"a": "by hand again", "b": "0"})
			b.can(b.on, 2)

			// A restore is a step of its own.
			b.put(1, "a", "by hand at last")
			b.can(func(r workspace.RestoreRequest) (*workspace.Restored, error) {
				return b.RestoreState(t.Context(), second.PreManifestID, r)
			}, 0)
			b.sees(1, map[string]string{"a": "1", "b": "0"})
			b.undo(1)
			b.sees(1, map[string]string{"a": "by hand at last", "b": "0", "new": "2"})
		})
	}
}

// The inverse may go another way: step by step what was undone at once, and at once what was
// undone step by step.
func TestWhatIsOverwrittenIsRestoredHoweverFarTheInverseGoes(t *testing.T) {
	t.Parallel()
	for name, walk := range map[string]func(overwritten){
		"one by one, at once": func(b overwritten) { b.can(b.back, 1); b.can(b.back, 1); b.can(b.on, 2) },
		"at once, one by one": func(b overwritten) { b.can(b.back, 2); b.can(b.on, 1); b.can(b.on, 1) },
		"there and back":      func(b overwritten) { b.can(b.back, 1); b.can(b.on, 1); b.can(b.back, 2); b.can(b.on, 2) },
		"with an edit between": func(b overwritten) {
			b.can(b.back, 1)
			b.put(1, "c", "between")
			b.can(b.back, 1)
			b.can(b.on, 1)
			b.sees(1, map[string]string{"a": "1", "b": "by hand", "c": "between"})
			b.can(b.on, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := overwritten{changer(t, t.TempDir()), t}
			b.did(store.ChatRef{}, `{"put":{"a":"0"}}`)
			b.did(lastChat, `{"put":{"a":"1","b":"1","c":"1"}}`)
			b.did(lastChat, `{"put":{"a":"2","c":"2"}}`)
			now := map[string]string{"a": "mine", "b": "by hand", "c": "2"}
			b.puts(1, map[string]string{"a": "mine", "b": "by hand"})
			walk(b)
			b.sees(1, now)
			b.can(b.back, 2)
			b.sees(1, map[string]string{"a": "0"})
			b.can(b.on, 2)
			b.sees(1, now)
		})
	}
}

// A file that --overwrite replaced a folder with, what was in it included, gives way again.
func TestWhatWasInAFolderThatGaveWayIsRestored(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"its own", "the user's"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			b := overwritten{changer(t, t.TempDir()), t}
			if place == "its own" {
				b.did(store.ChatRef{}, `{"put":{"x":"a file"}}`)
			} else {
				b.boundTo(t.TempDir(), `{"put":{"x":"a file"}}`)
			}
			b.did(lastChat, `{"rm":["x"]}`)
			b.did(lastChat, `{"put":{"x/made":"1"}}`)
			hers := map[string]string{"x/mine": "by hand", "x/sub/mine": "by hand"}
			b.puts(1, hers)
			now := maps.Clone(hers)
			now["x/made"] = "1"
			b.can(b.back, 2)
			b.sees(1, map[string]string{"x": "a file"})
			b.redo(2)
			b.sees(1, now)
			if _, err := b.back(workspace.RestoreRequest{Chat: lastChat, Steps: 2}); fault.CodeOf(err) != fault.Failed {
				t.Errorf("undo over the user's files in the folder: %v", err)
			}
			b.sees(1, now)
			b.can(b.back, 2)
			b.redo(2)
			b.sees(1, now)
		})
	}
}
