package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/toolset"
)

// writer is a tool that does what its arguments say: write each file of "put",
// remove those of "rm", and then fail if "fail" is set.
func writer() toolset.Entry {
	return tool("change", func(_ context.Context, c toolset.Call) (toolset.Result, error) {
		var args struct {
			Put  map[string]string
			Rm   []string
			Fail string
		}
		if err := json.Unmarshal(c.Args, &args); err != nil {
			return toolset.Result{}, err
		}
		for _, name := range slices.Sorted(maps.Keys(args.Put)) {
			if dir := filepath.Dir(name); dir != "." {
				if err := c.Workspace.Root.MkdirAll(dir, 0o755); err != nil {
					return toolset.Result{}, err
				}
			}
			if err := c.Workspace.Root.WriteFile(name, []byte(args.Put[name]), 0o644); err != nil {
				return toolset.Result{}, err
			}
		}
		for _, name := range args.Rm {
			if err := c.Workspace.Root.RemoveAll(name); err != nil {
				return toolset.Result{}, err
			}
		}
		if args.Fail != "" {
			return toolset.Result{}, toolset.Errorf("%s", args.Fail)
		}
		return toolset.Result{Text: "done"}, nil
	})
}

// changer makes an engine whose model makes the call that its prompt is: the
// arguments of change, or another tool's name before them.
func changer(t testing.TB, dir string, more ...toolset.Entry) *bench {
	t.Helper()
	b := &bench{t: t, dir: dir}
	b.Engine = New(changerOptions(t, dir, more...))
	b.o.Notice = b.notice
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

func changerOptions(t testing.TB, dir string, more ...toolset.Entry) Options {
	r := &prompted{}
	o := rogueOptions(t, dir, &r.rogue, append(more, writer()))
	reg := new(provider.Registry)
	if err := reg.Add("rogue", func() (provider.Provider, error) { return r, nil }); err != nil {
		t.Fatal(err)
	}
	o.Models = &models.Catalog{Registry: reg, Configured: "rogue/m"}
	return o
}

// did runs a turn of one call and gives its end.
func (b *bench) did(ref store.ChatRef, prompt string) event.ToolComplete {
	b.t.Helper()
	req := ask(prompt)
	req.Chat, req.Policy.AllowAll = ref, true
	events := b.run(req)
	last[event.Complete](b.t, events)
	return find[event.ToolComplete](events)
}

// tree is all that is in a folder: contents by path.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range files(t, dir) {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(content)
	}
	return out
}

func (b *bench) sees(chat int64, want map[string]string) {
	b.t.Helper()
	if diff := cmp.Diff(want, tree(b.t, b.WorkspacePath(b.chat(chat).Chat))); diff != "" {
		b.t.Errorf("the folder is not as it should be (-want +got):\n%s", diff)
	}
}

func (b *bench) put(chat int64, name, content string) {
	b.t.Helper()
	path := filepath.Join(b.WorkspacePath(b.chat(chat).Chat), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func TestEveryCallLeavesItsState(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	first := b.did(store.ChatRef{}, `{"put":{"a.txt":"1","d/b.txt":"2"}}`)
	if first.PreManifestID == "" || first.PostManifestID == "" || first.PreManifestID == first.PostManifestID {
		t.Fatalf("the states are %q and %q", first.PreManifestID, first.PostManifestID)
	}
	want := []event.Change{{Path: "a.txt", Kind: "added"}, {Path: "d/b.txt", Kind: "added"}}
	if diff := cmp.Diff(want, first.Changes); diff != "" {
		t.Error(diff)
	}
	failed := b.did(store.ChatRef{Last: true}, `{"put":{"a.txt":"changed"},"rm":["d"],"fail":"no more"}`)
	if failed.Status != event.CallError || failed.Error != "no more" || len(failed.Changes) != 2 || failed.PreManifestID != first.PostManifestID {
		t.Errorf("a call that failed: %+v", failed)
	}
	nothing := b.did(store.ChatRef{Last: true}, `{}`)
	if nothing.PreManifestID != failed.PostManifestID || nothing.PostManifestID != failed.PostManifestID || nothing.Changes != nil {
		t.Errorf("a call that did nothing: %+v", nothing)
	}
	conv := b.chat(1)
	if got := conv.Chat.ActiveManifest; got != failed.PostManifestID {
		t.Errorf("the chat is at %s, want %s", got, failed.PostManifestID)
	}
	var at []string
	for _, m := range conv.Messages {
		at = append(at, m.ManifestID)
	}
	if diff := cmp.Diff([]string{"", first.PostManifestID, first.PostManifestID, failed.PostManifestID, failed.PostManifestID, failed.PostManifestID}, at); diff != "" {
		t.Error(diff)
	}
	m, err := b.State(t.Context(), conv.Chat, "@")
	if err != nil || m.Source != cas.ToolRun || m.SourceRef != failed.CallID || m.ChatID != conv.Chat.ID {
		t.Errorf("the active state: %+v, %v", m, err)
	}
	for _, name := range []string{"@-1", first.PostManifestID, first.CallID, "@^", strings.ToLower(first.CallID), conv.Messages[1].ID} {
		if m, err := b.State(t.Context(), conv.Chat, name); err != nil || m.ID != first.PostManifestID {
			t.Errorf("%s is %+v, %v", name, m, err)
		}
	}
	for name, code := range map[string]fault.Code{"@1": fault.Usage, "@x": fault.Usage, "@-9": fault.NotFound, "zzzz": fault.NotFound, "a": fault.NotFound, "": fault.NotFound} {
		if _, err := b.State(t.Context(), conv.Chat, name); fault.CodeOf(err) != code {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// What somebody else changes between two calls is a state of its own, and stays.
func TestAnEditBetweenCallsIsAState(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	first := b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	b.put(1, "mine.txt", "mine")
	second := b.did(store.ChatRef{Last: true}, `{"put":{"a.txt":"2"}}`)
	if second.PreManifestID == first.PostManifestID {
		t.Error("the edit is in no state")
	}
	m, err := b.State(t.Context(), b.chat(1).Chat, second.PreManifestID)
	if err != nil || m.Source != cas.External || m.ParentID != first.PostManifestID {
		t.Errorf("the edit's state: %+v, %v", m, err)
	}
	b.sees(1, map[string]string{"a.txt": "2", "mine.txt": "mine"})
}

func TestAnotherBranchHasItsFiles(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1","keep.txt":"k"}}`)
	leaf := b.chat(1).Messages[1].ID
	b.did(store.ChatRef{Number: 1}, `{"put":{"a.txt":"2","b.txt":"b"},"rm":["keep.txt"]}`)
	other := b.did(store.ChatRef{Number: 1, Parent: leaf}, `{"put":{"c.txt":"c"}}`)
	if len(other.Changes) != 1 {
		t.Errorf("it changed %v", other.Changes)
	}
	b.sees(1, map[string]string{"a.txt": "1", "keep.txt": "k", "c.txt": "c"})
	m, err := b.State(t.Context(), b.chat(1).Chat, other.PreManifestID)
	if err != nil || m.Source != cas.Branch || m.SourceRef != leaf {
		t.Errorf("the branch begins at %+v, %v", m, err)
	}
}

func TestAForkHasTheFiles(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	b.did(store.ChatRef{Number: 1, Fork: true}, `{"put":{"b.txt":"2"}}`)
	b.sees(1, map[string]string{"a.txt": "1"})
	b.sees(2, map[string]string{"a.txt": "1", "b.txt": "2"})
}

// A state that can't be kept keeps the call from running, and the turn goes on.
func TestAStateThatCantBeKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := changer(t, dir)
	b.o.States.Chat = 1 << 10
	got := b.did(store.ChatRef{}, `{"put":{"a.txt":"`+strings.Repeat("x", 4<<10)+`"}}`)
	if got.Status != event.CallError || !strings.Contains(got.Result, "could not be kept") || !strings.Contains(got.Result, "the limit is") {
		t.Errorf("a call that left too much: %+v", got)
	}
	again := b.did(store.ChatRef{Last: true}, `{"put":{"b.txt":"b"}}`)
	if again.Status != event.CallError || !strings.Contains(again.Error, "it did not run, because it could not be undone") {
		t.Errorf("the next call: %+v", again)
	}
	b.sees(1, map[string]string{"a.txt": strings.Repeat("x", 4<<10)})
}

func TestAnEphemeralTurnKeepsNoState(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	req := ask(`{"put":{"a.txt":"1"}}`)
	req.Ephemeral, req.Policy.AllowAll = true, true
	end := find[event.ToolComplete](b.run(req))
	if end.Status != event.CallSuccess || end.PostManifestID != "" {
		t.Errorf("%+v", end)
	}
	if _, err := os.Stat(b.StoreDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a store: %v", err)
	}
}

func (b *bench) undo(n int) *workspace.Restored {
	b.t.Helper()
	out, err := b.Undo(b.t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Last: true}, Steps: n})
	if err != nil {
		b.t.Fatalf("undo %d: %v", n, err)
	}
	return out
}

func (b *bench) redo(n int) *workspace.Restored {
	b.t.Helper()
	out, err := b.Redo(b.t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Last: true}, Steps: n})
	if err != nil {
		b.t.Fatalf("redo %d: %v", n, err)
	}
	return out
}

func TestUndoAndRedo(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	steps := []map[string]string{{}}
	now := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		b.did(store.ChatRef{Last: len(steps) > 1}, `{"put":{"`+name+`":"`+name+`"}}`)
		b.did(store.ChatRef{Last: true}, `{}`) // changes nothing: no step
		now = maps.Clone(now)
		now[name] = name
		steps = append(steps, now)
	}
	at := func(i int) { t.Helper(); b.sees(1, steps[i]) }
	b.undo(1)
	at(2)
	b.undo(1)
	at(1)
	b.redo(1)
	at(2)
	b.redo(5) // as far as there is
	at(3)
	if out := b.undo(3); len(out.Steps) != 3 {
		t.Errorf("it went %d steps", len(out.Steps))
	}
	at(0)
	if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Last: true}}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("undo at the beginning: %v", err)
	}
	b.redo(2)
	at(2)
	// Something new: what was undone before it can't be redone, and undo goes
	// from the new step to the state that it found.
	b.did(store.ChatRef{Last: true}, `{"put":{"d":"d"}}`)
	if _, err := b.Redo(t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Last: true}}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("redo after a new step: %v", err)
	}
	b.undo(1)
	at(2)
	b.undo(1)
	at(1)
	b.redo(2)
	b.sees(1, map[string]string{"a": "a", "b": "b", "d": "d"})
	chat := b.chat(1).Chat
	if _, err := b.RestoreState(t.Context(), "@-1", workspace.RestoreRequest{Chat: store.ChatRef{Last: true}}); err != nil {
		t.Fatal(err)
	}
	at(1)
	b.undo(1) // a restore is a step
	b.sees(1, map[string]string{"a": "a", "b": "b", "d": "d"})
	if chat.ActiveLeaf != b.chat(1).Chat.ActiveLeaf {
		t.Error("undo moved the conversation")
	}
}

// Undo touches what the steps touched. What a person did since stays, and where
// both touched one file nothing is done.
func TestUndoLeavesOthersWorkAlone(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a":"1"}}`)
	b.did(store.ChatRef{Last: true}, `{"put":{"a":"2","b":"2"}}`)
	b.put(1, "mine", "mine")
	b.undo(1)
	b.sees(1, map[string]string{"a": "1", "mine": "mine"})
	b.redo(1)
	b.sees(1, map[string]string{"a": "2", "b": "2", "mine": "mine"})

	b.put(1, "a", "by hand")
	b.did(store.ChatRef{Last: true}, `{"put":{"c":"3"}}`)
	_, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Last: true}, Steps: 2})
	var conflict *cas.ConflictError
	if !errors.As(err, &conflict) || len(conflict.Paths) != 1 || conflict.Paths[0].Path != "a" {
		t.Fatalf("undo over an edit by hand: %v", err)
	}
	b.sees(1, map[string]string{"a": "by hand", "b": "2", "c": "3", "mine": "mine"})
	plan, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Last: true}, Steps: 2, Plan: true})
	if err != nil || len(plan.Blocked) != 1 {
		t.Errorf("the plan: %+v, %v", plan, err)
	}
	b.undo(1)
	if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Last: true}, Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	b.sees(1, map[string]string{"a": "1", "mine": "mine"})
}

// Of many files that others have changed the fault tells the first, and how many.
func TestAConflictOfManyFilesIsTold(t *testing.T) {
	t.Parallel()
	const n = 25
	b := changer(t, t.TempDir())
	for turn, chat := range []store.ChatRef{{}, lastChat} {
		var puts []string
		for i := range n {
			puts = append(puts, fmt.Sprintf(`"f%02d":"%d"`, i, turn))
		}
		b.did(chat, `{"put":{`+strings.Join(puts, ",")+`}}`)
	}
	for i := range n {
		b.put(1, fmt.Sprintf("f%02d", i), "mine")
	}
	_, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat})
	var conflict *cas.ConflictError
	var f *fault.Fault
	if !errors.As(err, &conflict) || len(conflict.Paths) != n || !errors.As(err, &f) {
		t.Fatalf("got %v", err)
	}
	if len(f.Detail) != fault.Listed+1 || f.Total != n || f.Detail[fault.Listed] != "and 5 more" || !strings.HasPrefix(f.Detail[0], "f00  someone else changed it since, last written ") {
		t.Errorf("of %d it tells %q", f.Total, f.Detail)
	}
}

// The user's own folder: what is edited after the last call is in no state yet
// when undo comes, and is noticed all the same.
func TestUndoInABoundFolder(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	req := ask(`{"put":{"a":"1","b":"1"}}`)
	req.Workspace, req.Policy.AllowAll = dir, true
	last[event.Complete](t, b.run(req))
	b.put(1, "a", "mine again")
	_, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Last: true}})
	var f *fault.Fault
	if !errors.As(err, &f) || len(f.Detail) != 1 || !strings.HasPrefix(f.Detail[0], "a  someone else") {
		t.Fatalf("undo over an edit: %v", err)
	}
	b.sees(1, map[string]string{"a": "mine again", "b": "1"})
	if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Last: true}, Paths: []string{"b"}}); err != nil {
		t.Fatal(err)
	}
	b.sees(1, map[string]string{"a": "mine again"})
}

func TestUndoOfManyCalls(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"start":"start"}}`)
	const calls = 100
	for i := range calls {
		b.did(store.ChatRef{Last: true}, `{"put":{"f`+strconv.Itoa(i%7)+`":"`+strconv.Itoa(i)+`"}}`)
	}
	if out := b.undo(calls); len(out.Steps) != calls {
		t.Errorf("it went %d steps", len(out.Steps))
	}
	b.sees(1, map[string]string{"start": "start"})
}

// A call in the user's folder is told which repositories lie deeper in it, as they
// are when it begins.
func TestACallKnowsTheRepositoriesInItsFolder(t *testing.T) {
	t.Parallel()
	var seen [][]string
	b := changer(t, t.TempDir(), tool("look", func(_ context.Context, c toolset.Call) (toolset.Result, error) {
		seen = append(seen, c.Workspace.Repositories)
		return toolset.Result{Text: "done"}, c.Workspace.Root.MkdirAll("late/.git", 0o755)
	}))
	dir := t.TempDir()
	for _, name := range []string{".git", "a/b/.git", "a/plain"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.boundTo(dir, "look {}")
	b.did(lastChat, "look {}")
	if diff := cmp.Diff([][]string{{".git", "a/b/.git"}, {".git", "a/b/.git", "late/.git"}}, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
