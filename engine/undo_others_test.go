package engine

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// boundTo runs a turn of one call in a new chat that is bound to a folder.
func (b *bench) boundTo(dir, prompt string) {
	b.t.Helper()
	req := ask(prompt)
	req.Workspace, req.Policy.AllowAll = dir, true
	last[event.Complete](b.t, b.run(req))
}

// puts writes files into a chat's folder as a person does, whatever folders these want.
func (b *bench) puts(chat int64, what map[string]string) {
	b.t.Helper()
	for name := range what {
		dir := filepath.Join(b.WorkspacePath(b.chat(chat).Chat), filepath.Dir(name))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.t.Fatal(err)
		}
		b.put(chat, name, what[name])
	}
}

// leftIn are the paths of a restore that were left alone.
func leftIn(r *workspace.Restored) map[string]bool {
	out := map[string]bool{}
	for _, l := range r.Left {
		out[l.Path] = true
	}
	return out
}

// What a person has put into a folder that a call made isn't the call's: undo and
// redo leave it there, whether or not anything else was changed.
func TestUndoLeavesOthersFilesInACallsFolder(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"its own", "the user's"} {
		for _, how := range []workspace.RestoreRequest{{}, {Overwrite: true}} {
			t.Run(place, func(t *testing.T) {
				t.Parallel()
				b := changer(t, t.TempDir())
				if place == "its own" {
					b.did(store.ChatRef{}, `{"put":{"ground":"0"}}`)
				} else {
					b.boundTo(t.TempDir(), `{"put":{"ground":"0"}}`)
				}
				made := map[string]string{"ground": "0", "n/made": "1", "n/sub/made": "1"}
				b.did(lastChat, `{"put":{"n/made":"1","n/sub/made":"1"}}`)
				hers := map[string]string{"n/mine": "by hand", "n/sub/deep/mine": "by hand"}
				b.puts(1, hers)
				how.Chat = lastChat
				out, err := b.Undo(t.Context(), how)
				if err != nil {
					t.Fatal(err)
				}
				if left := leftIn(out); !left["n/mine"] || !left["n/sub/deep/mine"] || !left["n"] {
					t.Errorf("it doesn't tell what is left: %v", out.Left)
				}
				want := map[string]string{"ground": "0"}
				maps.Copy(want, hers)
				b.sees(1, want)
				b.redo(1)
				maps.Copy(want, made)
				b.sees(1, want)
			})
		}
	}
}

// A restore of some paths stops at edits of just now also where these are the whole
// folder, or a list that names nothing.
func TestARestoreOfTheWholeFolderSeesEdits(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	first := b.did(store.ChatRef{}, `{"put":{"a":"1"}}`).PostManifestID
	b.did(lastChat, `{"put":{"a":"2"}}`)
	b.put(1, "a", "by hand")
	if _, err := b.RestoreState(t.Context(), first, workspace.RestoreRequest{Chat: lastChat, Paths: []string{"/"}}); fault.CodeOf(err) != fault.Failed {
		t.Errorf("a restore of / over an edit of just now: %v", err)
	}
	out, err := b.RestoreState(t.Context(), first, workspace.RestoreRequest{Chat: lastChat, Paths: []string{}})
	if err != nil || len(out.Changes) != 0 {
		t.Errorf("a restore of no path: %+v, %v", out, err)
	}
	b.sees(1, map[string]string{"a": "by hand"})
	if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat, Keep: []string{"/"}}); err != nil {
		t.Errorf("an undo that keeps all: %v", err)
	}
	b.sees(1, map[string]string{"a": "by hand"})
}

// Undo of some paths brings back what its steps changed below these, and nothing else.
func TestUndoOfSomePathsTouchesItsStepsAlone(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"d/a":"1","b":"1"}}`)
	b.did(lastChat, `{"put":{"d/a":"2","b":"2"}}`)
	b.puts(1, map[string]string{"d/mine": "by hand"})
	out, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat, Paths: []string{"d"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Changes) != 1 || cas.EscapePath(out.Changes[0].Path) != "d/a" {
		t.Errorf("it changed %v", out.Changes)
	}
	b.sees(1, map[string]string{"d/a": "1", "b": "2", "d/mine": "by hand"})
}
