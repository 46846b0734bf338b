package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

func TestManyTurnsAtOnce(t *testing.T) {
	t.Parallel()
	const engines, turns = 3, 8
	first := newBench(t, `{responses: [{when: "", text: Yes.}]}`)
	var wg sync.WaitGroup
	for i := range engines {
		e := first
		if i > 0 {
			e = first.reopen()
		}
		for range turns {
			wg.Go(func() { last[event.Complete](t, e.run(ask("go"))) })
		}
	}
	wg.Wait()
	page, err := first.Chats(t.Context(), store.ListChats{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int64]bool{}
	for _, c := range page.Chats {
		if c.Number < 1 || c.Number > engines*turns || seen[c.Number] || c.Messages != 2 {
			t.Errorf("chat %+v", c)
		}
		seen[c.Number] = true
	}
	if len(seen) != engines*turns {
		t.Errorf("%d chats", len(seen))
	}
}

func TestTurnsOfOneChatWaitForEachOther(t *testing.T) {
	t.Parallel()
	b := newBench(t, `
responses:
  - {deltas: [{content: One}, {wait: 150ms, content: "."}]}
  - text: Two.
`)
	id := b.start(ask("first"))
	b.firstText(id)
	var waited []string
	req := ask("second")
	req.Chat.Last = true
	req.OnWait = func(what string) { waited = append(waited, what) }
	other := b.reopen()
	events := other.run(req)
	want(t, events, `"Two."`, "meta stop", "complete")
	if len(waited) == 0 || !strings.Contains(waited[0], "chat 1 is busy, pid ") {
		t.Errorf("said while waiting: %q", waited)
	}
	if conv := b.chat(1); len(conv.Messages) != 4 {
		t.Errorf("%d messages", len(conv.Messages))
	}
}

// A fold that comes twice, as after a crash between sync and unlink, changes
// nothing.
func TestAFoldThatComesTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t, toolScript)
	b.run(ask("go"))
	journals := filepath.Join(b.dir, "data", "journal")
	name := files(t, journals)[0]
	saved, err := os.ReadFile(filepath.Join(journals, name))
	if err != nil {
		t.Fatal(err)
	}
	before := b.chat(1)
	if err := os.WriteFile(filepath.Join(journals, name), saved, 0o600); err != nil {
		t.Fatal(err)
	}
	after := b.chat(1)
	was, _ := json.Marshal(before)
	is, _ := json.Marshal(after)
	if string(was) != string(is) || after.Chat.Messages != 2 {
		t.Errorf("before %s\nafter %s", was, is)
	}
	if left := files(t, journals); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestJournalsThatWereCutShort(t *testing.T) {
	t.Parallel()
	whole := newBench(t, toolScript)
	whole.run(ask("go"))
	journals := filepath.Join(whole.dir, "data", "journal")
	name := files(t, journals)[0]
	saved, err := os.ReadFile(filepath.Join(journals, name))
	if err != nil {
		t.Fatal(err)
	}
	firstLine := strings.IndexByte(string(saved), '\n') + 1
	step := max(1, len(saved)/60)
	for cut := firstLine; cut < len(saved); cut += step {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "data", "journal", name), saved[:cut])
		put(t, filepath.Join(dir, "m.yaml"), []byte(toolScript))
		b := openBench(t, dir)
		events := b.follow(store.TurnID(strings.TrimSuffix(name, ".jsonl")))
		if e := last[event.Error](t, events); e.Code != string(fault.Interrupted) || !e.Retryable {
			t.Errorf("cut at %d it ends with %+v", cut, e)
		}
		if m := b.chat(1).Messages[1]; m.Status != chat.CutShort {
			t.Errorf("cut at %d it is kept as %s", cut, m.Status)
		}
		b.Close()
	}
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestADamagedJournalIsSetAside(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{when: "", text: Yes.}]}`)
	b.run(ask("one"))
	put(t, filepath.Join(b.dir, "data", "journal", "01DAMAGED.jsonl"), []byte("{}\nrubbish\n{}\n"))
	if got := b.chat(1); len(got.Messages) != 2 {
		t.Errorf("a damaged journal held up another: %+v", got)
	}
	left := files(t, filepath.Join(b.dir, "data", "journal"))
	if strings.Join(left, " ") != "01DAMAGED.jsonl.damaged" {
		t.Errorf("left: %v", left)
	}
	if told := b.notices(); strings.Count(told, "\n") != 0 || !strings.Contains(told, "01DAMAGED.jsonl.damaged") {
		t.Errorf("told %q", told)
	}
}

func TestALostCounterIsRecovered(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{when: "", text: Yes.}]}`)
	for range 3 {
		b.run(ask("go"))
	}
	b.chat(2) // two are in the store
	b.run(ask("go"))
	if err := os.Remove(filepath.Join(b.dir, "data", "counter.json")); err != nil {
		t.Fatal(err)
	}
	if n := last[event.Complete](t, b.run(ask("go"))).Payload.ConversationID; n != 5 {
		t.Errorf("the chat after the loss is %d", n)
	}
}

func TestABusyStore(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{when: "", text: Yes.}]}`)
	b.run(ask("one"))
	b.chat(1)
	holder := kv.Open(filepath.Join(b.dir, "data", "store"), kv.Options{Hold: true})
	defer holder.Close()
	if err := holder.View(t.Context(), func(*kv.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	// A plain question needs no store, and one with a tool neither.
	last[event.Complete](t, b.run(ask("two")))
}

func TestFollowFromAnyPoint(t *testing.T) {
	t.Parallel()
	b := newBench(t, toolScript)
	all := b.run(ask("go"))
	check := func(b *bench, where string) {
		for after := range len(all) + 1 {
			var got []event.Event
			for e, err := range b.Follow(t.Context(), store.TurnID(all[0].TurnID), event.Seq(after)) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, e)
			}
			if outline(got) != outline(all[after:]) {
				t.Errorf("%s, after %d:\n%s", where, after, outline(got))
			}
		}
	}
	check(b, "in memory")
	check(b.reopen(), "in the store")
}

// A follower that falls far behind a live turn reads what it missed from the
// journal, and the turn doesn't wait for it.
func TestAFollowerFarBehind(t *testing.T) {
	t.Parallel()
	var script strings.Builder
	script.WriteString("responses:\n  - deltas:\n")
	const n = 5 * feedWindow
	for i := range n {
		fmt.Fprintf(&script, "      - content: \"%d \"\n", i)
	}
	b := newBench(t, script.String())
	id := b.start(ask("go"))
	seen := 0
	for e, err := range b.Follow(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if seen == 0 {
			until(t, "the end of the turn", func() bool { _, _, done, _ := b.turn(id).feed.after(0); return done })
		}
		seen++
		if e.Seq != event.Seq(seen) {
			t.Fatalf("event %d has seq %d", seen, e.Seq)
		}
	}
	if seen != n+2 {
		t.Errorf("%d events of %d", seen, n+2)
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{deltas: [{content: Half}], hang: true}]}`)
	id := b.start(ask("go"))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	var got error
	for _, err := range b.Follow(ctx, id, 0) {
		got = err
	}
	if got == nil || ctx.Err() == nil {
		t.Errorf("ended with %v", got)
	}
}

func TestATurnOfAnotherProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{deltas: [{content: Half}], hang: true}]}`)
	id := b.start(ask("go"))
	b.firstText(id)
	other := b.reopen()
	var got error
	for _, err := range other.Follow(t.Context(), id, 0) {
		got = err
	}
	for what, err := range map[string]error{
		"follow": got, "cancel": other.Cancel(t.Context(), id), "confirm": other.Confirm(t.Context(), id, Confirmation{}),
	} {
		if fault.CodeOf(err) != fault.Busy || !strings.Contains(err.Error(), "pid ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := other.Cancel(t.Context(), "01NOSUCH"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("an unknown turn: %v", err)
	}
}

func TestCloseEndsLiveTurns(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{deltas: [{content: Half}], hang: true}]}`)
	id := b.start(ask("go"))
	b.firstText(id)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Start(t.Context(), ask("more")); fault.CodeOf(err) != fault.Interrupted {
		t.Errorf("a closed engine: %v", err)
	}
	if m := b.reopen().chat(1).Messages[1]; m.Status != chat.CutShort || m.Text() != "Half" {
		t.Errorf("kept %+v", m)
	}
}
