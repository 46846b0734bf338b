package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// spentScript tells tokens for "count", and none for anything else.
const spentScript = `
responses:
  - {when: count, text: Counted., usage: {input_tokens: 100, output_tokens: 10, cached_tokens: 40, reasoning_tokens: 3}}
  - {when: "", text: Silent.}
`

// at sets the clock of an engine.
func (b *bench) at(day int) {
	when := time.Date(2026, 3, day, 12, 0, 0, 0, time.Local)
	b.o.Now = func() time.Time { return when }
}

func (b *bench) byDay(since time.Time) []store.Spent {
	b.t.Helper()
	rows, err := b.UsageByDay(context.Background(), since)
	if err != nil {
		b.t.Fatalf("usage by day: %v", err)
	}
	return rows
}

func (b *bench) byChat(since time.Time) []store.Spent {
	b.t.Helper()
	rows, err := b.UsageByChat(context.Background(), since)
	if err != nil {
		b.t.Fatalf("usage by chat: %v", err)
	}
	for i := range rows {
		rows[i].ChatID = ""
	}
	return rows
}

func wantSpent(t testing.TB, got []store.Spent, want ...store.Spent) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spent (-want +got):\n%s", diff)
	}
}

// counted is a row of so many turns of spentScript's "count".
func counted(n int64) store.Spent {
	return store.Spent{
		Model: "script/m.yaml", Turns: n,
		Tokens: event.Usage{InputTokens: 100 * n, OutputTokens: 10 * n, CachedTokens: 40 * n, ReasoningTokens: 3 * n},
	}
}

func on(s store.Spent, day string) store.Spent            { s.Day = day; return s }
func of(s store.Spent, n int64, title string) store.Spent { s.Number, s.Title = n, title; return s }

func (b *bench) askIn(chat int64, prompt string) {
	b.t.Helper()
	req := ask(prompt)
	req.Chat.Number = chat
	last[event.Complete](b.t, b.run(req))
}

func TestUsageIsSummedByDayAndChat(t *testing.T) {
	t.Parallel()
	b := newBench(t, spentScript)
	wantSpent(t, b.byDay(time.Time{}))
	b.at(1)
	b.askIn(0, "count one")
	b.askIn(0, "count two")
	b.at(3)
	b.askIn(1, "count more")
	b.askIn(1, "hush")
	silent := on(counted(2), "2026-03-03")
	silent.Untold, silent.Tokens = 1, counted(1).Tokens

	wantSpent(t, b.byDay(time.Time{}), on(counted(2), "2026-03-01"), silent)
	wantSpent(t, b.byDay(time.Date(2026, 3, 3, 23, 0, 0, 0, time.Local)), silent)
	wantSpent(t, b.byDay(time.Date(2026, 3, 4, 0, 0, 0, 0, time.Local)))

	first := counted(3)
	first.Untold, first.Tokens = 1, counted(2).Tokens
	wantSpent(t, b.byChat(time.Time{}), of(first, 1, "count one"), of(counted(1), 2, "count two"))
	wantSpent(t, b.byChat(time.Date(2026, 3, 2, 0, 0, 0, 0, time.Local)), of(on(silent, ""), 1, "count one"))
}

func TestUsageCountsWhatIsKeptOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, spentScript)
	b.at(1)
	req := ask("count this")
	req.Ephemeral = true
	b.run(req)
	wantSpent(t, b.byDay(time.Time{}))

	b.askIn(0, "count this")
	journals := filepath.Join(b.dir, "data", "journal")
	name := files(t, journals)[0]
	saved, err := os.ReadFile(filepath.Join(journals, name))
	if err != nil {
		t.Fatal(err)
	}
	wantSpent(t, b.byDay(time.Time{}), on(counted(1), "2026-03-01"))
	if err := os.WriteFile(filepath.Join(journals, name), saved, 0o600); err != nil { // as a crash leaves it
		t.Fatal(err)
	}
	wantSpent(t, b.byDay(time.Time{}), on(counted(1), "2026-03-01"))

	fork := ask("count again")
	fork.Chat = store.ChatRef{Number: 1, Fork: true}
	b.run(fork) // its chat has copies of the first one's messages
	wantSpent(t, b.byDay(time.Time{}), on(counted(2), "2026-03-01"))
	wantSpent(t, b.byChat(time.Time{}), of(counted(1), 1, "count this"), of(counted(1), 2, "count again"))
}

func TestUsageOfAChatThatIsGoneStays(t *testing.T) {
	t.Parallel()
	b := newBench(t, spentScript)
	b.at(1)
	b.askIn(0, "count this")
	chat := b.chat(1).Chat
	err := b.KV.Update(t.Context(), func(tx *kv.Tx) error { return b.Tables.Chats.Delete(tx, kv.Str(chat.ID)) })
	if err != nil {
		t.Fatal(err)
	}
	gone := of(counted(1), 1, "")
	gone.Gone = true
	wantSpent(t, b.byChat(time.Time{}), gone)
	wantSpent(t, b.byDay(time.Time{}), on(counted(1), "2026-03-01"))
}

// forgetSums makes the store one from before there were sums.
func (b *bench) forgetSums() {
	b.t.Helper()
	u := b.Tables.Usage
	err := b.KV.Update(context.Background(), func(tx *kv.Tx) error {
		for _, table := range []*kv.Table[store.Spent]{u.Days, u.Chats} {
			for row, err := range table.Scan(tx, kv.Range{}) {
				if err != nil {
					return err
				}
				if err := table.Delete(tx, table.KeyOf(row)); err != nil {
					return err
				}
			}
		}
		for turn, err := range b.Tables.Turns.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			turn.Counted = false
			if err := b.Tables.Turns.Put(tx, turn); err != nil {
				return err
			}
		}
		return u.State.Delete(tx, kv.Str(store.UsageCounted))
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// An old store is counted once, whatever is folded or stopped meanwhile.
func TestUsageOfAnOldStore(t *testing.T) {
	t.Parallel()
	b := newBench(t, spentScript)
	b.at(1)
	b.askIn(0, "count this")
	b.askIn(1, "hush")
	before := b.byDay(time.Time{})
	b.forgetSums()
	b.at(2)
	b.askIn(1, "count that") // folded before the old ones are counted
	if _, err := b.Fold(t.Context(), store.FoldAll); err != nil {
		t.Fatal(err)
	}
	after := append(before, on(counted(1), "2026-03-02"))
	wantSpent(t, b.byDay(time.Time{}), after...)
	wantSpent(t, b.byDay(time.Time{}), after...)
	if rows := b.byChat(time.Time{}); len(rows) != 1 || rows[0].Turns != 3 || rows[0].Number != 1 {
		t.Errorf("by chat: %+v", rows)
	}
}

func TestUsageOfAnOldStoreIsCountedByManyAtOnce(t *testing.T) {
	t.Parallel()
	const turns = 2*store.CountGroup + 7
	b := newBench(t, spentScript)
	b.at(1)
	if err := b.KV.Batch(t.Context(), func(batch *kv.Batch) error { return b.oldTurns(batch, turns) }); err != nil {
		t.Fatal(err)
	}
	// One that was stopped half-way has counted a whole group.
	if err := b.KV.Update(t.Context(), func(tx *kv.Tx) error {
		_, err := b.CountGroup(tx, nil)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 3 {
		other := b.reopen()
		wg.Go(func() {
			if _, err := other.UsageByDay(context.Background(), time.Time{}); err != nil {
				t.Errorf("usage: %v", err)
			}
		})
	}
	wg.Wait()
	wantSpent(t, b.byDay(time.Time{}), on(counted(turns), "2026-03-01"))
}

// oldTurns writes turns as a program without sums did.
func (b *bench) oldTurns(w kv.Writer, n int) error {
	for i := range n {
		turn := chat.Turn{ID: fmt.Sprintf("T%04d", i), ChatID: "C", Order: int64(i), MessageID: fmt.Sprintf("M%04d", i)}
		answer := chat.Message{
			ChatID: "C", ID: turn.MessageID, Model: "script/m.yaml", CreatedAt: b.o.Now(), Status: chat.Answered,
			Usage: &event.Usage{InputTokens: 100, OutputTokens: 10, CachedTokens: 40, ReasoningTokens: 3},
			Parts: []provider.Part{{Kind: provider.TextPart, Text: "Yes."}},
		}
		if err := b.Tables.Turns.Put(w, &turn); err != nil {
			return err
		}
		if err := b.Tables.Messages.Put(w, &answer); err != nil {
			return err
		}
	}
	return nil
}

func TestSpentBy(t *testing.T) {
	t.Parallel()
	text := []provider.Part{{Kind: provider.TextPart, Text: "Half"}}
	ran := []provider.Part{{Kind: provider.ToolResultPart}}
	some := &event.Usage{InputTokens: 5, OutputTokens: 1}
	for name, c := range map[string]struct {
		answer chat.Message
		tokens store.TokensOf
		want   []store.Spent
	}{
		"a fallback answered a later response": {
			chat.Message{Model: "b/b", Status: chat.Answered, Usage: some, Parts: text},
			store.TokensOf{"a/a": {InputTokens: 3}, "b/b": {InputTokens: 2, OutputTokens: 1}},
			[]store.Spent{
				{Model: "b/b", Turns: 1, Tokens: event.Usage{InputTokens: 2, OutputTokens: 1}},
				{Model: "a/a", Tokens: event.Usage{InputTokens: 3}},
			},
		},
		"nothing came at all": {
			chat.Message{Model: "a/a", Status: chat.Failed}, nil, []store.Spent{{Model: "a/a", Turns: 1}},
		},
		"no count came": {
			chat.Message{Model: "a/a", Status: chat.Answered, Parts: text}, nil, []store.Spent{{Model: "a/a", Turns: 1, Untold: 1}},
		},
		"cut off in a response": {
			chat.Message{Model: "a/a", Status: chat.Stopped, Usage: some, Parts: text}, store.TokensOf{"a/a": some},
			[]store.Spent{{Model: "a/a", Turns: 1, Untold: 1, Tokens: *some}},
		},
		"stopped while a tool ran": {
			chat.Message{Model: "a/a", Status: chat.CutShort, Usage: some, Parts: ran}, store.TokensOf{"a/a": some},
			[]store.Spent{{Model: "a/a", Turns: 1, Tokens: *some}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := store.SpentBy(c.answer, c.tokens)
			for i := range got {
				got[i].Day = ""
			}
			wantSpent(t, got, c.want...)
		})
	}
}
