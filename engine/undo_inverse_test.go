package engine

import (
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
)

// What undo, redo and restore overwrite comes back with the inverse of each, in the chat's
// own folder and in the user's.
func TestWhatIsOverwrittenComesBackWithTheInverse(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"its own", "the user's"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			b := changer(t, t.TempDir())
			if place == "its own" {
				b.did(ChatRef{}, `{"put":{"a":"0","b":"0"}}`)
			} else {
				b.boundTo(t.TempDir(), `{"put":{"a":"0","b":"0"}}`)
			}
			b.did(lastChat, `{"put":{"a":"1"}}`)
			second := b.did(lastChat, `{"put":{"a":"2","new":"2"}}`)
			over := RestoreRequest{Chat: lastChat, Overwrite: true}
			overTwo := RestoreRequest{Chat: lastChat, Overwrite: true, Steps: 2}
			can := func(_ *Restored, err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}

			b.put(1, "a", "by hand")
			if _, err := b.Undo(t.Context(), RestoreRequest{Chat: lastChat}); fault.CodeOf(err) != fault.Failed {
				t.Errorf("undo over an edit: %v", err)
			}
			can(b.Undo(t.Context(), over))
			b.sees(1, map[string]string{"a": "1", "b": "0"})
			b.redo(1)
			b.sees(1, map[string]string{"a": "by hand", "b": "0", "new": "2"})

			// Over two steps, and the other way round.
			can(b.Undo(t.Context(), overTwo))
			b.sees(1, map[string]string{"a": "0", "b": "0"})
			b.put(1, "a", "by hand again")
			can(b.Redo(t.Context(), overTwo))
			b.sees(1, map[string]string{"a": "by hand", "b": "0", "new": "2"})
			can(b.Undo(t.Context(), RestoreRequest{Chat: lastChat, Steps: 2, Overwrite: true}))
			b.sees(1, map[string]string{"a": "by hand again", "b": "0"})
			can(b.Redo(t.Context(), overTwo))

			// A restore is a step of its own.
			b.put(1, "a", "by hand at last")
			can(b.RestoreState(t.Context(), second.PreManifestID, over))
			b.sees(1, map[string]string{"a": "1", "b": "0"})
			b.undo(1)
			b.sees(1, map[string]string{"a": "by hand at last", "b": "0", "new": "2"})
		})
	}
}
