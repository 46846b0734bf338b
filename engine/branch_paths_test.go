package engine

import (
	"errors"
	"os"
	"testing"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// In the user's folder a branch takes back and brings what calls did there. What a
// person did meanwhile, seen by a call or not, belongs to no branch.
func TestABranchLeavesAPersonsWorkInTheirFolder(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.boundTo(t.TempDir(), `{"put":{"a":"1","gone":"1"}}`)
	b.puts(1, map[string]string{"notes": "by hand", "dir/mine": "by hand"})
	b.did(lastChat, `{"put":{"b":"2","dir/made":"2"},"rm":["gone"]}`)
	old := b.chat(1).Messages
	b.puts(1, map[string]string{"unseen": "by hand"})
	if got := b.branches(1); len(got) != 1 {
		t.Fatalf("branches %+v", got)
	}
	b.did(store.ChatRef{Number: 1, Instead: old[2].ID}, `{"put":{"c":"3"}}`)
	hers := map[string]string{"a": "1", "notes": "by hand", "dir/mine": "by hand", "unseen": "by hand"}
	with := func(more ...string) map[string]string {
		out := map[string]string{}
		for name, content := range hers {
			out[name] = content
		}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	b.sees(1, with("gone", "1", "c", "3"))
	b.puts(1, map[string]string{"notes": "by hand, later"})
	hers["notes"] = "by hand, later"
	for _, br := range b.branches(1) {
		if !br.Active && (br.Added != 2 || br.Removed != 2 || br.Modified != 0) {
			t.Errorf("it is said to change %+v", br)
		}
	}
	b.switchTo(1, old[3].ID)
	b.sees(1, with("b", "2", "dir/made", "2"))
	b.undo(1)
	b.sees(1, with("gone", "1"))
	b.redo(1)
	b.switchTo(1, b.branches(1)[1].Leaf)
	b.sees(1, with("gone", "1", "c", "3"))
	b.undo(2)
	delete(hers, "a")
	b.sees(1, hers)
}

// Where a person has changed what the branch's calls did, seen by a later call or not,
// nothing is done, and the ways out are named.
func TestABranchStopsAtAPersonsWork(t *testing.T) {
	t.Parallel()
	for _, seen := range []bool{false, true} {
		b := changer(t, t.TempDir())
		b.boundTo(t.TempDir(), `{"put":{"a":"1"}}`)
		b.did(lastChat, `{"put":{"b":"2"}}`)
		question := b.chat(1).Messages[2].ID
		b.puts(1, map[string]string{"b": "by hand"})
		want := map[string]string{"a": "1", "b": "by hand"}
		if seen {
			b.did(lastChat, `{"put":{"c":"3"}}`)
			want["c"] = "3"
		}
		req := ask(`{"put":{"d":"4"}}`)
		req.Chat, req.Policy.AllowAll = store.ChatRef{Number: 1, Instead: question}, true
		_, err := b.Start(t.Context(), req)
		var f *fault.Fault
		var conflict *cas.ConflictError
		if !errors.As(err, &f) || !errors.As(err, &conflict) || len(conflict.Paths) != 1 || conflict.Paths[0].Path != "b" {
			t.Fatalf("seen %t: a branch over a person's work: %v", seen, err)
		}
		if len(f.Remedies) != 2 || f.Remedies[0].Text != "fork chat 1 after message 2" {
			t.Errorf("seen %t: hints %q", seen, f.Remedies)
		}
		b.sees(1, want)
		if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat, Steps: 2, Overwrite: true}); err != nil {
			t.Fatal(err)
		}
		b.did(store.ChatRef{Number: 1, Instead: question}, `{"put":{"d":"4"}}`)
		b.sees(1, map[string]string{"a": "1", "d": "4"})
	}
}

// A branch that has to change nothing in the folder goes on from its own state all the
// same: the steps of the other one aren't its own.
func TestABranchThatChangesNothingHasItsOwnSteps(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.boundTo(t.TempDir(), `{"put":{"a":"1"}}`)
	b.did(lastChat, `{"put":{"b":"2"}}`)
	question := b.chat(1).Messages[2].ID
	b.puts(1, map[string]string{"mine": "by hand"})
	if err := os.Remove(b.WorkspacePath(b.chat(1).Chat) + "/b"); err != nil {
		t.Fatal(err)
	}
	b.did(store.ChatRef{Number: 1, Instead: question}, `{"put":{"c":"3"}}`)
	b.sees(1, map[string]string{"a": "1", "mine": "by hand", "c": "3"})
	if out := b.undo(5); len(out.Steps) != 2 {
		t.Errorf("it has undone %+v", out.Steps)
	}
	b.sees(1, map[string]string{"mine": "by hand"})
}

// To bring back a whole state of the user's folder stops at what a person put there
// since, also where a call has seen it; what they removed is no loss.
func TestARestoreStopsAtWhatAPersonPutThereSince(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	dir := t.TempDir()
	b.boundTo(dir, `{"put":{"a":"1","gone":"1"}}`)
	first := b.chat(1).Chat.ActiveManifest
	b.puts(1, map[string]string{"notes": "by hand"})
	if err := os.Remove(dir + "/gone"); err != nil {
		t.Fatal(err)
	}
	b.did(lastChat, `{"put":{"a":"2"}}`)
	_, err := b.RestoreState(t.Context(), first, workspace.RestoreRequest{Chat: lastChat})
	var conflict *cas.ConflictError
	if !errors.As(err, &conflict) || len(conflict.Paths) != 1 || conflict.Paths[0].Path != "notes" {
		t.Fatalf("a restore over a person's file: %v", err)
	}
	b.sees(1, map[string]string{"a": "2", "notes": "by hand"})
	if _, err := b.RestoreState(t.Context(), first, workspace.RestoreRequest{Chat: lastChat, Keep: []string{"notes"}}); err != nil {
		t.Fatal(err)
	}
	b.sees(1, map[string]string{"a": "1", "gone": "1", "notes": "by hand"})
	b.undo(1)
	b.sees(1, map[string]string{"a": "2", "notes": "by hand"})
	if _, err := b.RestoreState(t.Context(), first, workspace.RestoreRequest{Chat: lastChat, Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	b.sees(1, map[string]string{"a": "1", "gone": "1"})
	b.undo(1)
	b.sees(1, map[string]string{"a": "2", "notes": "by hand"})
}
