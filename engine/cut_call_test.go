package engine

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
)

// cutOff gives an engine on what a crash leaves of a call that has removed "kept" and
// written "half". before has run, in chat 1, and the files are a person's of since.
func cutOff(t *testing.T, before func(*bench), hers map[string]string) *bench {
	t.Helper()
	began, end := make(chan bool), make(chan bool)
	b := changer(t, t.TempDir(), tool("halfway", func(_ context.Context, c toolset.Call) (toolset.Result, error) {
		err := errors.Join(c.Workspace.Root.Remove("kept"), c.Workspace.Root.WriteFile("half", []byte("1"), 0o644))
		began <- true
		<-end
		return toolset.Result{}, err
	}))
	before(b)
	b.puts(1, hers)
	req := ask("halfway {}")
	req.Chat, req.Policy.AllowAll = lastChat, true
	id := b.start(req)
	<-began
	crashed := t.TempDir()
	err := b.KV.View(t.Context(), func(*kv.Tx) error { return os.CopyFS(crashed, os.DirFS(b.dir)) })
	close(end)
	b.follow(id)
	if err != nil {
		t.Fatal(err)
	}
	return changer(t, crashed)
}

// A call that a crash cut off is the step that undo takes back, and not the one before
// it. What it did can't be told from what a person did since, so that is said first.
func TestACallThatACrashCutOffIsAStep(t *testing.T) {
	t.Parallel()
	b := cutOff(t, func(b *bench) { b.did(store.ChatRef{}, `{"put":{"kept":"precious"}}`) }, map[string]string{"hers": "before it"})
	_, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat})
	var f *fault.Fault
	if !errors.As(err, &f) || len(f.Detail) != 2 || !strings.Contains(f.Detail[0], "half  a call without a known end changed it") {
		t.Fatalf("undo of what may be a person's: %v", err)
	}
	b.sees(1, map[string]string{"half": "1", "hers": "before it"})
	b.puts(1, map[string]string{"since": "by hand"})
	out, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat, Overwrite: true})
	if err != nil || len(out.Steps) != 1 || out.Steps[0].Source != cas.Interrupted {
		t.Fatalf("undo: %+v, %v", out, err)
	}
	b.sees(1, map[string]string{"kept": "precious", "hers": "before it", "since": "by hand"})
	b.redo(1)
	b.sees(1, map[string]string{"half": "1", "hers": "before it", "since": "by hand"})
	if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat, Steps: 2, Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	b.sees(1, map[string]string{"hers": "before it", "since": "by hand"})
}

// The first call of a chat is no exception: the state before it is known.
func TestAFirstCallThatACrashCutOff(t *testing.T) {
	t.Parallel()
	b := cutOff(t, func(b *bench) {
		b.run(ask("hello"))
		if err := os.MkdirAll(b.WorkspacePath(b.chat(1).Chat), 0o755); err != nil {
			t.Fatal(err)
		}
	}, map[string]string{"kept": "precious", "hers": "untouched"})
	if out, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat, Overwrite: true}); err != nil || len(out.Changes) != 2 {
		t.Fatalf("undo: %+v, %v", out, err)
	}
	b.sees(1, map[string]string{"kept": "precious", "hers": "untouched"})
}

// What a person does after the state of a cut-off call was looked at is nobody
// else's, also where that call had changed nothing more.
func TestAnEditAfterACutOffCallIsNotItsWork(t *testing.T) {
	t.Parallel()
	b := cutOff(t, func(b *bench) { b.did(store.ChatRef{}, `{"put":{"kept":"precious"}}`) }, nil)
	b.puts(1, map[string]string{"kept": "precious"})
	if err := os.Remove(b.WorkspacePath(b.chat(1).Chat) + "/half"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.FolderState(t.Context(), workspace.RestoreRequest{Chat: lastChat}); err != nil {
		t.Fatal(err)
	}
	b.puts(1, map[string]string{"mine": "by hand"})
	b.undo(1)
	b.sees(1, map[string]string{"mine": "by hand"})
}

// So it is with a call whose state could not be kept: nobody is told that no tool has
// changed a file, also not after turns that couldn't run any.
func TestACallWhoseStateCouldNotBeKeptIsAStep(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"kept":"precious"}}`)
	b.o.States.Chat = 1 << 10
	big := strings.Repeat("x", 4<<10)
	got := b.did(lastChat, `{"rm":["kept"],"put":{"big":"`+big+`"}}`)
	if got.Status != event.CallError || got.PreManifestID == "" || got.PostManifestID != "" {
		t.Fatalf("a call that left too much: %+v", got)
	}
	b.did(lastChat, `{"put":{"more":"1"}}`) // it can't run
	b.puts(1, map[string]string{"hers": "by hand"})
	for range 2 {
		if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat}); err == nil || !strings.Contains(err.Error(), "the limit is") {
			t.Fatalf("undo with no room for what is there: %v", err)
		}
	}
	b.sees(1, map[string]string{"big": big, "hers": "by hand"})
	b.o.States.Chat = 0
	if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat}); fault.CodeOf(err) != fault.Failed {
		t.Fatalf("undo of what may be a person's: %v", err)
	}
	if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat, Overwrite: true, Keep: []string{"hers"}}); err != nil {
		t.Fatal(err)
	}
	b.sees(1, map[string]string{"kept": "precious", "hers": "by hand"})
	b.undo(1)
	b.sees(1, map[string]string{"hers": "by hand"})
}
