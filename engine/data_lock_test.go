package engine

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/backup"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// A collection that waits for an import keeps the states of the chat that the import has
// made meanwhile, though they are old by the times in the file.
func TestACollectionBesideAnImport(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	file := exportedHistory(t)
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"x.txt":"some"}}`) // so that there is a store
	if _, err := b.Fold(ctx, store.FoldAll); err != nil {
		t.Fatal(err)
	}
	b.o.Now = later(2 * store.UnknownGrace)
	waiting, collected := make(chan struct{}), make(chan error, 1)
	other := New(Options{
		Options: store.Options{
			DataDir: b.o.DataDir,
			Now:     later(2 * store.UnknownGrace),
			Notice: func(s string) {
				if strings.HasPrefix(s, "waiting for the store of files") {
					close(waiting)
				}
			},
		},
	})
	t.Cleanup(func() { _ = other.Close() })
	b.Pause = func(step string) {
		if step == "import:states" { // the states are in the store, the chat isn't
			go func() {
				_, err := other.CollectStates(ctx, false)
				collected <- err
			}()
			<-waiting
		}
	}
	in, err := b.ImportStates(ctx, workspace.RestoreRequest{}, workspace.History{Name: "f", Content: bytes.NewReader(file), New: true})
	if err := errors.Join(err, <-collected); err != nil {
		t.Fatal(err)
	}
	for _, m := range in.States {
		if _, err := b.Snapshots.Manifest(ctx, m.ID); errors.Is(err, cas.ErrNotFound) {
			t.Errorf("state %s of the imported chat is gone", m.ID)
		}
	}
}

// A chat that another process is removing for good stays where a backup is restored
// meanwhile that has it.
func TestAPurgeBesideARestore(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	raw := b.backup(backup.Options{})
	want := kept(t, b)
	chat := b.chat(1).Chat
	if err := b.DeleteChats(t.Context(), chat); err != nil {
		t.Fatal(err)
	}
	other := New(Options{Options: store.Options{DataDir: b.o.DataDir}})
	t.Cleanup(func() { _ = other.Close() })
	other.Pause = func(step string) {
		if step != "purge:begun" {
			return
		}
		if err := b.putBack(raw, backup.Options{Replace: true}); err != nil {
			t.Error(err)
		}
	}
	if p, err := other.PurgeChats(t.Context(), store.Purge{Chats: []string{chat.ID}}); err != nil || p.Chats != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	got := kept(t, changer(t, b.dir))
	for k := range want {
		if got[k] != want[k] {
			t.Errorf("%s is gone from what was restored", k)
		}
	}
}

// A restore waits for each operation that changes something, and names the process.
func TestARestoreWaitsForWhatChangesSomething(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	raw := b.backup(backup.Options{})
	release, err := b.ShareData(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	other := New(Options{Options: store.Options{DataDir: b.o.DataDir}})
	t.Cleanup(func() { _ = other.Close() })
	told := ""
	_, err = backup.Restore(context.Background(), other.Store, bytes.NewReader(raw), backup.Options{Replace: true, OnWait: func(s string) {
		told = s
		release()
	}})
	if err != nil || !strings.HasPrefix(told, "the data directory is in use by pid ") {
		t.Errorf("told %q, %v", told, err)
	}
}
