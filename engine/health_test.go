package engine

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// contents are the files below a folder by name, to see that nothing changed.
func contents(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	out := map[string][32]byte{}
	for _, name := range files(t, dir) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = sha256.Sum256(data)
	}
	return out
}

func TestHealthOfNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, spentScript)
	h := b.Health(t.Context())
	if h.Exists || h.Err != nil || h.Free == 0 || h.Need == 0 || h.Store != (store.StoreHealth{}) {
		t.Errorf("health %+v", h)
	}
	if _, err := os.Stat(h.Dir); err == nil {
		t.Error("the data directory was made")
	}
}

func TestHealthChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, spentScript)
	b.run(ask("one"))
	b.chat(1) // folds it
	b.run(ask("two"))
	if err := b.KV.LetGo(); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(b.dir, "data")
	damaged := filepath.Join(data, "journal", "X.jsonl.damaged")
	for path, text := range map[string]string{
		damaged: "junk", filepath.Join(data, "locks", "chat-A"): lockText(os.Getpid()),
		filepath.Join(data, "locks", "chat-B"): lockText(1 << 30), // of a process that is gone
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := contents(t, data)
	h := b.Health(t.Context())
	if diff := cmp.Diff(before, contents(t, data)); diff != "" {
		t.Errorf("the data directory (-before +after):\n%s", diff)
	}
	h.Free, h.Need, h.Store.Opened, h.Store.Schema = 0, 0, false, 0
	want := store.Health{
		Dir: data, Exists: true, Waiting: 1, Damaged: []string{damaged},
		Store: store.StoreHealth{Exists: true, Clean: true}, Locks: []store.HeldLock{{Name: "chat-A", Owner: store.OwnerName(os.Getpid())}},
	}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("health (-want +got):\n%s", diff)
	}
}

// lockText is what a holder writes into its lock's file.
func lockText(pid int) string { return "\x00" + store.OwnerName(pid) + "\n" }

func TestHealthOfABusyStore(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{deltas: [{content: Half}], hang: true}]}`)
	id := b.start(ask("one"))
	b.firstText(id)
	err := b.KV.View(t.Context(), func(*kv.Tx) error {
		h := b.Health(t.Context())
		if me := store.OwnerName(os.Getpid()); h.Store.Owner != me || len(h.Live) != 1 || h.Live[0] != me {
			t.Errorf("health %+v", h)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	b.follow(id)
}

func TestHealthOfADamagedStore(t *testing.T) {
	t.Parallel()
	b := newBench(t, spentScript)
	b.run(ask("one"))
	b.chat(1)
	if err := b.KV.LetGo(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(b.StoreDir(), "MANIFEST")); err != nil {
		t.Fatal(err)
	}
	h := b.Health(t.Context())
	if fault.CodeOf(h.Store.Err) != fault.Store || !strings.Contains(h.Store.Err.Error(), "damaged") {
		t.Errorf("health %+v", h)
	}
}
