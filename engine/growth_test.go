package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// heldBench is a bench that holds its store, so that the work it counts has no
// reopening in it.
func heldBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, echoScript)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	o := testOptions(t, b.dir, nil)
	o.Hold = true
	b.Engine = New(o)
	return b
}

// fill imports chats of so many messages each. The first has the word quokka.
func (b *bench) fill(chats, messages int) {
	b.t.Helper()
	var docs []*chat.Document
	for i := range chats {
		d := longDocument(i, messages)
		if i == 0 {
			d.Messages[1].Parts[0].Text += " quokka"
		}
		docs = append(docs, d)
	}
	if _, err := b.importChats(b.t.Context(), docs, store.CopyExisting); err != nil {
		b.t.Fatal(err)
	}
}

// work counts what an operation has the store do.
func (b *bench) work(op func(*bench) error) kv.Work {
	b.t.Helper()
	before := b.KV.Work()
	if err := op(b); err != nil {
		b.t.Fatal(err)
	}
	return b.KV.Work().Since(before)
}

// goOn is the next turn of the chat that was used last.
func goOn(b *bench) error {
	req := ask("and then?")
	req.Chat = lastChat
	b.run(req)
	_, err := b.Fold(b.t.Context(), store.FoldAll)
	return err
}

// sameReads fails where an operation reads more in the large store than in the
// small one. Each runs once before it is counted, since the first operation of
// a process reads more.
func sameReads(t *testing.T, small, large *bench, ops map[string]func(*bench) error) {
	t.Helper()
	const spare = 4 // a value that is on one side of a block's border
	for name, op := range ops {
		for _, b := range []*bench{small, large} {
			b.work(op)
		}
		few, many := small.work(op), large.work(op)
		t.Logf("%s: %+v and %+v", name, few, many)
		if many.Reads() > few.Reads()+spare || many.Writes > few.Writes+spare {
			t.Errorf("%s: the work grows from %+v to %+v", name, few, many)
		}
	}
}

// What shows or adds a few things costs the same among many chats.
func TestReadsAmongManyChats(t *testing.T) {
	t.Parallel()
	small, large := heldBench(t), heldBench(t)
	small.fill(20, 4)
	large.fill(600, 4)
	sameReads(t, small, large, map[string]func(*bench) error{
		"list": func(b *bench) error {
			_, err := b.Chats(t.Context(), store.ListChats{Limit: 10})
			return err
		},
		"search": func(b *bench) error {
			page, err := b.SearchChats(t.Context(), store.SearchChats{Query: parse(t, "quokka"), Limit: 10})
			if err == nil && len(page.Chats) != 1 {
				t.Errorf("found %d", len(page.Chats))
			}
			return err
		},
		"go on": goOn,
		"complete": func(b *bench) error {
			_, err := b.Glance(t.Context(), 10)
			return err
		},
		"previews": func(b *bench) error {
			page, err := b.Chats(t.Context(), store.ListChats{Limit: 10})
			if err == nil {
				_, err = b.Previews(t.Context(), page.Chats)
			}
			return err
		},
		"start of a server": func(b *bench) error {
			_, err := b.Fold(t.Context(), store.FoldAll)
			return errors.Join(err, b.Tidy(t.Context(), time.Second))
		},
		"usage": func(b *bench) error {
			_, err := b.UsageByDay(t.Context(), time.Time{})
			return err
		},
		"show": func(b *bench) error {
			_, err := b.Chat(t.Context(), store.ChatRef{Number: 7})
			return err
		},
		"export": func(b *bench) error {
			_, _, err := b.ExportChat(t.Context(), store.ChatRef{Number: 7})
			return err
		},
		"new chat": func(b *bench) error {
			b.run(ask("hello"))
			_, err := b.Fold(t.Context(), store.FoldAll)
			return err
		},
	})
}

// A search for what many chats have reads a few blocks for each term, with hundreds of
// chats in each, and the messages of the chats that it shows.
func TestReadsOfFrequentTerms(t *testing.T) {
	t.Parallel()
	const few, many, terms = 40, 640, 4
	small, large := heldBench(t), heldBench(t)
	small.fill(few, 4)
	large.fill(many, 4)
	words := strings.Fields(longDocument(0, 4).Messages[2].Parts[0].Text)
	for query, shown := range map[string]int{"w0": 10, `"` + strings.Join(words[:terms], " ") + `"`: 1} {
		search := func(b *bench) error {
			page, err := b.SearchChats(t.Context(), store.SearchChats{Query: parse(t, query), Limit: 10})
			if err == nil && len(page.Chats) != shown {
				t.Errorf("%s: found %d", query, len(page.Chats))
			}
			return err
		}
		for _, b := range []*bench{small, large} {
			b.work(search)
		}
		one, other := small.work(search), large.work(search)
		t.Logf("%s: %+v and %+v", query, one, other)
		if most := one.Reads() + 2*terms*many/store.RowBlock; other.Reads() > most {
			t.Errorf("%s: %d reads, more than %d", query, other.Reads(), most)
		}
	}
}

// A long chat costs no more than a short one where its end is enough.
func TestReadsInALongChat(t *testing.T) {
	t.Parallel()
	small, large := heldBench(t), heldBench(t)
	for b, n := range map[*bench]int{small: 40, large: 1600} {
		doc := longDocument(0, n)
		doc.Messages[n-5].Summary = &chat.Summary{Text: "so far", Messages: n - 4, Model: "script/m.yaml"}
		if _, err := b.importChats(t.Context(), []*chat.Document{doc}, store.RefuseExisting); err != nil {
			t.Fatal(err)
		}
	}
	sameReads(t, small, large, map[string]func(*bench) error{
		"go on": goOn,
		"show the end": func(b *bench) error {
			conv, err := b.ChatEnd(t.Context(), store.ChatRef{Number: 1}, 6)
			if err == nil && len(conv.Messages) != 6 {
				t.Errorf("%d messages", len(conv.Messages))
			}
			return err
		},
		"list": func(b *bench) error {
			_, err := b.Chats(t.Context(), store.ListChats{Limit: 10})
			return err
		},
	})
}

// proportional fails where the work of an operation grows faster than what it
// works on, which grows to factor times.
func proportional(t *testing.T, name string, factor int64, small, large kv.Work) {
	t.Helper()
	t.Logf("%s: %+v and %+v", name, small, large)
	for _, n := range [][2]int64{{small.Reads(), large.Reads()}, {small.Writes, large.Writes}, {small.Bytes, large.Bytes}} {
		if most := factor*n[0]*5/4 + 50; n[1] > most {
			t.Errorf("%s: %d becomes %d, more than %d, for %d times as much", name, n[0], n[1], most, factor)
		}
	}
}

// Work on all of a chat, or of a file of chats, is proportional to the text,
// however much of it there is.
func TestWorkFollowsTheText(t *testing.T) {
	t.Parallel()
	const factor, messages, chats = 4, 600, 100
	ctx := context.WithoutCancel(t.Context())
	small, large := heldBench(t), heldBench(t)
	size := func(b *bench, n int) int {
		if b == large {
			return factor * n
		}
		return n
	}
	for _, op := range []struct {
		name string
		run  func(*bench) error
	}{
		{"import of many chats", func(b *bench) error { b.fill(size(b, chats), 6); return nil }},
		{"import of a long chat", func(b *bench) error {
			doc := longDocument(9999, size(b, messages))
			_, err := b.importChats(ctx, []*chat.Document{doc}, store.RefuseExisting)
			return err
		}},
		{"branches", func(b *bench) error {
			_, all, err := b.Branches(ctx, lastChat)
			if err == nil && len(all) != 1 {
				t.Errorf("%d branches", len(all))
			}
			return err
		}},
		{"fork", func(b *bench) error { _, err := b.ForkChat(ctx, lastChat, 0); return err }},
		{"export", func(b *bench) error { _, _, err := b.ExportChat(ctx, lastChat); return err }},
		{"purge", func(b *bench) error {
			chat := b.lastUsed()
			if err := b.DeleteChats(ctx, chat); err != nil {
				return err
			}
			_, err := b.PurgeChats(ctx, store.Purge{Chats: []string{chat.ID}})
			return err
		}},
		{"indexing an old store", func(b *bench) error {
			b.wipeIndex(false)
			_, err := b.SearchChats(ctx, store.SearchChats{Query: parse(t, "quokka")})
			return err
		}},
	} {
		proportional(t, op.name, factor, small.work(op.run), large.work(op.run))
	}
}

// A word that many chats have is written about once for all chats of an import, and not
// once for each group of chats that become visible together.
func TestAnImportWritesAWordOnce(t *testing.T) {
	t.Parallel()
	const groups, messages = 4, 2
	one, many := heldBench(t), heldBench(t)
	docs := func(first, n int) (out []*chat.Document) {
		for i := range n {
			out = append(out, longDocument(first+i, messages))
		}
		return out
	}
	imports := func(first, n int) func(*bench) error {
		return func(b *bench) error {
			_, err := b.importChats(t.Context(), docs(first, n), store.RefuseExisting)
			return err
		}
	}
	together := one.work(imports(0, groups*store.InsertGroup))
	var apart kv.Work
	for i := range groups {
		w := many.work(imports(i*store.InsertGroup, store.InsertGroup))
		apart.Writes, apart.Bytes = apart.Writes+w.Writes, apart.Bytes+w.Bytes
	}
	t.Logf("together %+v, in %d imports %+v", together, groups, apart)
	words := func(b *bench) (n int64) {
		err := b.View(t.Context(), func(tx *kv.Tx) error {
			for _, err := range b.Tables.Search.Words.Keys(tx, kv.Range{}) {
				if err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	// Each further import writes the frequent words again.
	if saved := apart.Writes - together.Writes; saved < words(one)/4 {
		t.Errorf("one import of %d chats saves %d writes, with %d words", groups*store.InsertGroup, saved, words(one))
	}
}

// An import opens the store once, however slowly its documents come: each close of a
// session may rewrite much of a large store.
func TestASlowImportOpensTheStoreOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, echoScript)
	const idle = 300 * time.Millisecond // longer than the store stays open by itself
	docs := func(yield func(*chat.Document, error) bool) {
		for i := range 2*store.InsertGroup + 1 {
			if i%store.InsertGroup == 0 {
				time.Sleep(idle)
			}
			if !yield(longDocument(i, 2), nil) {
				return
			}
		}
	}
	before := b.KV.Work()
	err := b.ImportChats(t.Context(), store.ImportRequest{Documents: docs, Each: func(store.Imported) error { return nil }})
	// It is opened for reading, and then for writing.
	if n := b.KV.Work().Since(before).Opens; err != nil || n > 2 {
		t.Errorf("the store was opened %d times (%v)", n, err)
	}
}

// lastUsed is the chat that was used last.
func (b *bench) lastUsed() chat.Chat {
	b.t.Helper()
	page, err := b.Chats(b.t.Context(), store.ListChats{Limit: 1})
	if err != nil || len(page.Chats) != 1 {
		b.t.Fatalf("%d chats, %v", len(page.Chats), err)
	}
	return page.Chats[0]
}
