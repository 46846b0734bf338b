package engine

import (
	"testing"

	"github.com/fettle-cli/fettle/internal/kv"
)

// A write by which nothing else is held keeps the data directory from being replaced,
// and is noticed; one within an operation that holds it is not.
func TestAWriteHoldsTheDataDirectory(t *testing.T) {
	b := changer(t, t.TempDir())
	was, noticed := unheldWrite, 0
	unheldWrite = func() { noticed++ }
	defer func() { unheldWrite = was }()
	held := false
	err := b.store.Update(t.Context(), func(*kv.Tx) error {
		b.held.mu.Lock()
		defer b.held.mu.Unlock()
		held = b.held.count == 1
		return nil
	})
	if err != nil || !held || noticed != 1 {
		t.Errorf("%v, held %v, noticed %d times", err, held, noticed)
	}
	if b.held.count != 0 {
		t.Errorf("%d operations hold it afterwards", b.held.count)
	}
	release, err := b.shareData(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.store.Update(t.Context(), func(*kv.Tx) error { return nil }); err != nil || noticed != 1 {
		t.Errorf("within another: %v, noticed %d times", err, noticed)
	}
	release()
	release() // a second time does nothing
	if b.held.count != 0 {
		t.Errorf("%d operations hold it afterwards", b.held.count)
	}
}
