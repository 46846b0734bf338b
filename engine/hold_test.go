package engine

import (
	"testing"

	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// A write by which nothing else is held keeps the data directory from being replaced,
// and is noticed; one within an operation that holds it is not.
func TestAWriteHoldsTheDataDirectory(t *testing.T) {
	b := changer(t, t.TempDir())
	noticed := 0
	was := store.OnUnheldWrite(func() { noticed++ })
	defer func() { store.OnUnheldWrite(was) }()
	held := false
	err := b.KV.Update(t.Context(), func(*kv.Tx) error {
		b.Held.Mu.Lock()
		defer b.Held.Mu.Unlock()
		held = b.Held.Count == 1
		return nil
	})
	if err != nil || !held || noticed != 1 {
		t.Errorf("%v, held %v, noticed %d times", err, held, noticed)
	}
	if b.Held.Count != 0 {
		t.Errorf("%d operations hold it afterwards", b.Held.Count)
	}
	release, err := b.ShareData(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.KV.Update(t.Context(), func(*kv.Tx) error { return nil }); err != nil || noticed != 1 {
		t.Errorf("within another: %v, noticed %d times", err, noticed)
	}
	release()
	release() // a second time does nothing
	if b.Held.Count != 0 {
		t.Errorf("%d operations hold it afterwards", b.Held.Count)
	}
}
