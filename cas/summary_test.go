package cas

import (
	"fmt"
	"testing"

	"github.com/fettle-cli/fettle/internal/kv"
)

// summary fails unless what was counted is what is there, and gives it.
func (b *bench) summary() *Summary {
	b.t.Helper()
	sum, err := b.s.Summary(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	stats, err := b.s.Stats(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	if sum.States != stats.Manifests || sum.Files != stats.Files || sum.FileBytes != stats.FileBytes {
		b.t.Errorf("counted are %d states and %d files of %d bytes, there are %d, %d and %d",
			sum.States, sum.Files, sum.FileBytes, stats.Manifests, stats.Files, stats.FileBytes)
	}
	have := make(map[string]ChatStats)
	for _, c := range stats.Chats {
		have[c.ChatID] = c
	}
	if len(have) != len(sum.Chats) {
		b.t.Errorf("counted are %d chats, there are %d", len(sum.Chats), len(have))
	}
	for _, c := range sum.Chats {
		if c.States != have[c.ChatID].Manifests || c.Last == nil || c.Last.ChatID != c.ChatID {
			b.t.Errorf("%s: counted are %d states, there are %d; the last is %+v", c.ChatID, c.States, have[c.ChatID].Manifests, c.Last)
		}
	}
	return sum
}

func TestSummaryIsWhatIsThere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var last *Manifest
	for i := range 300 { // more chats than are read at once
		b.write("same", "shared by all")
		b.write("own", fmt.Sprintf("of %03d", i/2))
		last = b.snapshot(SnapshotOptions{About: About{ChatID: fmt.Sprint("chat", i/2)}, Parent: last}).Manifest
	}
	sum := b.summary()
	want := int64(len("shared by all") + 150*len("of 000"))
	if sum.Added != want || len(sum.Chats) != 150 || sum.Chats[0].ChatID != "chat0" || sum.Chats[0].Last.Files != 2 {
		t.Errorf("%d bytes of %d chats, the first %+v", sum.Added, len(sum.Chats), sum.Chats[0])
	}
	if err := b.s.DropChat(t.Context(), "chat7"); err != nil {
		t.Fatal(err)
	}
	b.summary()
	_, err := b.s.GC(t.Context(), GCOptions{Live: fixed(func(m *Manifest) bool { return m.ChatID != "chat8" })})
	if err != nil {
		t.Fatal(err)
	}
	if sum := b.summary(); sum.Added != want-2*int64(len("of 000")) {
		t.Errorf("after a collection it has %d bytes", sum.Added)
	}
}

func TestEveryStateKnowsItsGround(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a", "0")
	first := b.snapshot(SnapshotOptions{About: About{ChatID: "c"}}).Manifest
	at := first
	states := []*Manifest{first}
	for i := range 5 {
		b.write("a", fmt.Sprint(i+1))
		at = b.snapshot(SnapshotOptions{About: About{ChatID: "c"}, Parent: at}).Manifest
		states = append(states, at)
	}
	back, err := b.s.Materialize(t.Context(), b.ws, states[2], RestoreOptions{About: About{ChatID: "c", Source: Restored}, Active: at})
	if err != nil {
		t.Fatal(err)
	}
	branch, err := b.s.Materialize(t.Context(), b.ws, states[1],
		RestoreOptions{About: About{ChatID: "c", ParentID: states[1].ID, Source: Branch}, Active: back.After})
	if err != nil {
		t.Fatal(err)
	}
	same := b.snapshot(SnapshotOptions{About: About{ChatID: "c", ParentID: branch.After.ID}}).Manifest
	if first.GroundID != "" {
		t.Errorf("the first has the ground %s", first.GroundID)
	}
	for i, m := range append(states[1:], back.After, branch.After, same) {
		kept, err := b.s.Manifest(t.Context(), m.ID)
		if err != nil || m.GroundID != first.ID || kept.GroundID != first.ID {
			t.Errorf("state %d has the ground %q, in the store %+v, %v", i, m.GroundID, kept, err)
		}
	}
}

// An earlier program's accounts don't say how many states there are.
func TestSummaryCountsWhatNobodyHasCounted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 5 {
		b.write("a", fmt.Sprint(i))
		b.snapshot(SnapshotOptions{About: About{ChatID: fmt.Sprint("chat", i%2)}})
	}
	if sum := b.summary(); sum.States != 5 {
		t.Fatalf("%d states of 5", sum.States)
	}
	err := b.s.kv.Update(t.Context(), func(tx *kv.Tx) error {
		for _, chat := range []string{"chat0", "chat1", allChats} {
			u, err := b.s.used(tx, chat)
			if err != nil {
				return err
			}
			u.States, u.Counted = 0, false
			if err := b.s.usage.Put(tx, &u); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b.write("a", "another")
	b.snapshot(SnapshotOptions{About: About{ChatID: "chat0"}})
	if sum := b.summary(); sum.States != 6 || sum.Added == 0 {
		t.Errorf("%d states of 6, %d bytes", sum.States, sum.Added)
	}
}
