package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

func TestSearchOfAnOldStoreGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t, echoScript)
	const chats = 3
	err := b.KV.Batch(t.Context(), func(batch *kv.Batch) error { return b.oldChats(batch, chats) })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stopped, steps := 0, 0
	_, err = b.SearchChats(ctx, store.SearchChats{Query: parse(t, "old"), Indexing: func(done, total int) {
		if stopped = done; total != chats {
			t.Errorf("%d of %d chats", done, total)
		}
		cancel()
	}})
	if !errors.Is(err, context.Canceled) || stopped == 0 || stopped == chats {
		t.Fatalf("stopped at %d: %v", stopped, err)
	}
	q := store.SearchChats{Query: parse(t, "old"), Indexing: func(done, _ int) {
		if steps++; done < stopped {
			t.Errorf("it began anew: %d after %d", done, stopped)
		}
	}}
	if got := b.found(q); !slices.Equal(got, []int64{3, 2, 1}) || steps == 0 {
		t.Errorf("found %v in %d steps", got, steps)
	}
	steps = 0
	b.found(q)
	if steps != 0 {
		t.Errorf("indexed again, in %d steps", steps)
	}
}

func TestSearchOfAnOldStoreByManyAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, echoScript)
	err := b.KV.Batch(t.Context(), func(batch *kv.Batch) error { return b.oldChats(batch, 3) })
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 3 {
		other := b.reopen()
		wg.Go(func() {
			other.wantFound("old word1", 3, 2, 1)
			other.run(ask(fmt.Sprintf("quokka word%d", i)))
			if got := other.found(store.SearchChats{Query: parse(t, "quokka")}); len(got) == 0 {
				t.Error("its own turn is not found")
			}
		})
	}
	wg.Wait()
	if got := b.found(store.SearchChats{Query: parse(t, "quokka")}); len(got) != 3 {
		t.Errorf("found %v", got)
	}
}

// oldChats writes chats as a program without an index did, each with more
// messages than a step takes.
func (b *bench) oldChats(w kv.Writer, n int) error {
	order := int64(0)
	for number := range int64(n) {
		c := chat.Chat{ID: fmt.Sprintf("C%d", number), Number: number + 1, Title: "old"}
		for i := range store.StepMessages*2/3 + 7 {
			order++
			m := chat.Message{
				ChatID: c.ID, ID: fmt.Sprintf("M%05d", i), Role: provider.User, Status: chat.Answered,
				Parts: []provider.Part{{Kind: provider.TextPart, Text: fmt.Sprintf("word%d", i)}},
			}
			turn := chat.Turn{ID: fmt.Sprintf("T%04d", order), ChatID: c.ID, Order: order, MessageID: m.ID}
			if err := errors.Join(b.Tables.Messages.Put(w, &m), b.Tables.Turns.Put(w, &turn)); err != nil {
				return err
			}
		}
		c.LastTurn = order
		if err := b.Tables.Chats.Put(w, &c); err != nil {
			return err
		}
	}
	return nil
}

// An import writes the index of its chats, so that a search after it has
// nothing to index.
func TestSearchAfterAnImportIndexesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, echoScript)
	doc := longDocument(0, 2)
	doc.Messages[1].Parts[0].Text = "a quokka"
	if _, err := b.importChats(t.Context(), []*chat.Document{doc}, store.RefuseExisting); err != nil {
		t.Fatal(err)
	}
	q := store.SearchChats{Query: parse(t, "quokka"), Indexing: func(int, int) { t.Error("the chats were indexed again") }}
	if got := b.found(q); !slices.Equal(got, []int64{1}) {
		t.Errorf("found %v", got)
	}
}

// A store whose chats were imported by a program without an index is indexed
// once, also where the first thing that is written to it is an import.
func TestSearchOfAnOldStoreAfterAnImport(t *testing.T) {
	t.Parallel()
	b := newBench(t, echoScript)
	if err := b.KV.Batch(t.Context(), func(batch *kv.Batch) error { return b.oldChats(batch, 1) }); err != nil {
		t.Fatal(err)
	}
	if _, err := b.importChats(t.Context(), []*chat.Document{longDocument(0, 2)}, store.RefuseExisting); err != nil {
		t.Fatal(err)
	}
	b.wantFound("old word1", 1)
}
