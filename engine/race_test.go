package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/journal"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

const yes = `{responses: [{when: "", text: Yes.}]}`

// halt stops an engine at a step until release is called.
func (b *bench) halt(step string) (reached <-chan struct{}, release func()) {
	at, on := make(chan struct{}), make(chan struct{})
	var once, gone sync.Once
	fn := func(s string) {
		if s == step {
			once.Do(func() { close(at); <-on })
		}
	}
	b.Pause = fn
	b.Journals.Hook(fn)
	release = func() { gone.Do(func() { close(on) }) }
	b.t.Cleanup(release)
	return at, release
}

// While one process folds a turn, another that wants to go on with its chat,
// to follow it or to read it neither misses it nor takes it for a live one.
func TestWhatAnotherIsFoldingIsNotMissed(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"fold:claimed", "fold:parts", "fold:written", "fold:synced", "remove"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, yes)
			b.run(ask("one"))
			id := b.start(ask("two"))
			b.follow(id)
			folder, other := b.reopen(), b.reopen()
			reached, release := folder.halt(step)
			var wg sync.WaitGroup
			defer wg.Wait()
			wg.Go(func() {
				if _, err := folder.Fold(context.Background(), store.FoldAll); err != nil {
					t.Error(err)
				}
			})
			<-reached
			var waiting atomic.Int32
			try := func(what string, do func()) {
				waiting.Add(1)
				wg.Go(func() { do(); waiting.Add(-1) })
			}
			try("follow", func() { want(t, other.follow(id), `"Yes."`, "meta stop", "complete") })
			try("show", func() {
				if conv := other.chat(2); len(conv.Messages) < 2 { // the turn below may have ended before
					t.Errorf("chat 2 has %d messages", len(conv.Messages))
				}
			})
			try("last", func() {
				req := ask("three")
				req.Chat.Last = true
				if n := last[event.Complete](t, other.run(req)).Payload.ConversationID; n != 2 {
					t.Errorf("-c went on with chat %d", n)
				}
			})
			time.Sleep(20 * time.Millisecond) // they are at it; whether they still wait is not looked at
			release()
		})
	}
}

// -c waits for the turn that was accepted last. If that leaves nothing behind,
// it is the chat before it that goes on.
func TestTheLastTurnLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	fail := make(chan struct{})
	b, r := newRogue(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		if step == 1 {
			<-fail
			yield(nil, &provider.Error{Kind: provider.Unauthorised, Provider: "rogue", Message: "bad key"})
			return
		}
		yield([]provider.Delta{says("Yes."), stops("stop")}, nil)
	})
	b.run(ask("one"))
	req := ask("two")
	req.DiscardUnanswered = true
	id := b.start(req)
	until(t, "the second request", func() bool { return len(r.requests()) == 2 })
	req = ask("three")
	req.Chat.Last = true
	req.OnWait = func(string) { close(fail) }
	events := b.run(req)
	if n := last[event.Complete](t, events).Payload.ConversationID; n != 1 {
		t.Errorf("went on with chat %d", n)
	}
	last[event.Error](t, b.follow(id))
}

// Reading a chat waits for nobody.
func TestReadingAChatDoesNotWait(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{when: one, text: Yes.}, {when: two, deltas: [{content: Half}], hang: true}]}`)
	id := b.start(ask("two"))
	b.firstText(id)
	for what, ref := range map[string]store.ChatRef{"by number": {Number: 1}, "the last": {Last: true}} {
		if _, err := b.Chat(t.Context(), ref); fault.CodeOf(err) != fault.Busy {
			t.Errorf("%s: %v", what, err)
		}
	}
	b.run(ask("one"))
	if conv, err := b.Chat(t.Context(), store.ChatRef{Last: true}); err != nil || conv.Chat.Number != 2 {
		t.Errorf("the last chat is %d, %v", conv.Chat.Number, err)
	}
	b.Cancel(t.Context(), id)
	b.follow(id)
}

// A question that can't be kept leaves nothing behind, however far the model
// came meanwhile, and whichever step of keeping it failed.
func TestAQuestionThatCouldNotBeKept(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"publish:synced", "publish:renamed"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			real, link := "", ""
			there := func() error { // the folder is where it should be
				_ = os.Remove(link)
				return os.Symlink(real, link)
			}
			b, _ := newRogue(t, func(ctx context.Context, _ int, yield func([]provider.Delta, error) bool) {
				yield([]provider.Delta{says("Quick.")}, nil)
				<-ctx.Done()
				if err := there(); err != nil {
					t.Error(err)
				}
				yield(nil, ctx.Err())
			})
			link, real = filepath.Join(b.dir, "data", "journal"), filepath.Join(b.dir, "elsewhere")
			put(t, filepath.Join(real, "x"), nil)
			put(t, filepath.Join(b.dir, "data", "x"), nil)
			if err := there(); err != nil {
				t.Skipf("no symbolic links here: %v", err)
			}
			b.Journals.Hook(func(s string) {
				if s == step {
					_ = os.Remove(link)
				}
			})
			req := ask("go")
			req.Uploads = []Upload{{Name: "a.txt", Data: []byte("a")}}
			_, err := b.Start(t.Context(), req)
			if fault.CodeOf(err) != fault.Store || !strings.Contains(err.Error(), "keep the question") {
				t.Errorf("start: %v (%s)", err, fault.CodeOf(err))
			}
			b.Journals.Hook(func(string) { /* the folder stays */ })
			if got := strings.Join(files(t, real), " "); got != "x" {
				t.Errorf("left behind: %s", got)
			}
			if got := files(t, filepath.Join(b.dir, "data", "chats")); len(got) > 0 {
				t.Errorf("left behind: %v", got)
			}
			if page, err := b.Chats(t.Context(), store.ListChats{}); err != nil || len(page.Chats) > 0 {
				t.Errorf("%d chats, %v", len(page.Chats), err)
			}
		})
	}
}

// A counter that was put back from a copy gives numbers twice. No chat is lost
// by it, and the next number is a new one.
func TestANumberThatIsTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	for i := range 3 {
		b.run(ask(fmt.Sprint("old ", i+1)))
	}
	b.chat(3)
	put(t, filepath.Join(b.dir, "data", "counter.json"), []byte(`{"chat":1,"turn":1}`))
	b.run(ask("new"))
	page, err := b.Chats(t.Context(), store.ListChats{})
	if err != nil || len(page.Chats) != 4 {
		t.Fatalf("%d chats, %v", len(page.Chats), err)
	}
	if got := b.chat(4).Chat.Title; got != "new" {
		t.Errorf("chat 4 is %q", got)
	}
	if told := b.notices(); !strings.Contains(told, "chat 2 is now chat 4") {
		t.Errorf("said: %q", told)
	}
	p := last[event.Complete](t, b.run(ask("newer"))).Payload
	if p.ConversationID != 5 {
		t.Errorf("the next chat is %d", p.ConversationID)
	}
	if conv, err := b.Chat(t.Context(), store.ChatRef{Last: true}); err != nil || conv.Chat.Number != 5 {
		t.Errorf("the last chat is %d, %v", conv.Chat.Number, err)
	}
}

// Power loss can leave rubbish behind the last sync point, and later lines
// behind that. What came before was acknowledged and is kept; the file stays
// for a person.
func TestDamageInTheMiddleOfAJournal(t *testing.T) {
	t.Parallel()
	whole := newBench(t, toolScript)
	id := whole.start(ask("go"))
	events := whole.follow(id)
	name := string(id) + ".jsonl"
	saved, err := os.ReadFile(filepath.Join(whole.dir, "data", "journal", name))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(saved), "\n")
	const good = 3 // events before the damage
	head, tail := strings.Join(lines[:good+1], ""), strings.Join(lines[good+2:], "")
	for what, middle := range map[string]string{
		"rubbish": strings.Repeat("\x00", 40) + "\n", "a missing line": "", "a line twice": lines[good],
		"another turn's": strings.Replace(lines[good+1], string(id), "01OTHER", 1), "not an event": "{}\n",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, filepath.Join(dir, "data", "journal", name), []byte(head+middle+tail))
			b := newBenchIn(t, dir, yes)
			got := b.follow(id)
			if outline(got[:good]) != outline(events[:good]) || last[event.Error](t, got).Code != string(fault.Interrupted) {
				t.Errorf("kept:\n%s", outline(got))
			}
			if m := b.chat(1).Messages[1]; m.Status != chat.CutShort || m.Text() != outcomeOf(events[:good]).text {
				t.Errorf("kept %q as %s", m.Text(), m.Status)
			}
			if left := files(t, filepath.Join(dir, "data", "journal")); strings.Join(left, " ") != name+".damaged" {
				t.Errorf("left: %v", left)
			}
			if told := b.notices(); !strings.Contains(told, name+".damaged") {
				t.Errorf("said: %q", told)
			}
			req := ask("on")
			req.Chat.Number = 1
			want(t, b.run(req), `"Yes."`, "meta stop", "complete")
		})
	}
}

// -c with hundreds of journals that nobody has folded yet.
func TestContinueWithManyJournals(t *testing.T) {
	t.Parallel()
	const n = 200
	b := newBench(t, yes)
	for i := range n {
		makeJournal(t, b, i+1)
	}
	put(t, filepath.Join(b.dir, "data", "counter.json"), []byte(fmt.Sprintf(`{"chat":%d,"turn":%d}`, n, n)))
	req := ask("on")
	req.Chat.Last = true
	begun := time.Now()
	p := last[event.Complete](t, b.run(req)).Payload
	t.Logf("%d journals were folded and the last chat went on in %s", n, time.Since(begun))
	if p.ConversationID != n {
		t.Errorf("went on with chat %d", p.ConversationID)
	}
	page, err := b.Chats(t.Context(), store.ListChats{})
	if err != nil || len(page.Chats) != n {
		t.Errorf("%d chats, %v", len(page.Chats), err)
	}
}

// makeJournal writes a finished journal, without the syncs of a real one.
func makeJournal(t *testing.T, b *bench, number int) {
	t.Helper()
	now := b.o.Now()
	a := chat.Acceptance{
		Version: chat.JournalVersion, TurnID: b.NewID(), Order: int64(number), NewChat: true, UserMessageID: b.NewID(), MessageID: b.NewID(),
		Chat: chat.Chat{ID: b.NewID(), Number: int64(number), Title: "made", CreatedAt: now}, Parts: ask("hi").Parts, Time: now,
	}
	line, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	for i, body := range []event.Body{event.TextDelta{Text: "Yes."}, event.Meta{StopReason: "stop"}, event.Complete{}} {
		e := event.Event{TurnID: a.TurnID, Seq: event.Seq(i + 1), Time: now, Body: body}
		if line, err = e.Append(append(line, '\n')); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(b.dir, "data", "journal", a.TurnID+".jsonl"), append(line, '\n'))
}

// A fold that can't have the store says so and loses nothing.
func TestAFoldThatCantHaveTheStore(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	b.run(ask("one"))
	b.KV = kv.Open(b.StoreDir(), kv.Options{Wait: 50 * time.Millisecond})
	holder := kv.Open(b.StoreDir(), kv.Options{Hold: true})
	if err := holder.View(t.Context(), func(*kv.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	_, err := b.Fold(t.Context(), store.FoldAll)
	if fault.CodeOf(err) != fault.Store || !strings.Contains(err.Error(), fmt.Sprintf("pid %d", os.Getpid())) {
		t.Errorf("fold: %v", err)
	}
	if err := holder.Close(); err != nil {
		t.Fatal(err)
	}
	if got := b.chat(1); len(got.Messages) != 2 {
		t.Errorf("%d messages", len(got.Messages))
	}
}

// Who has no time to fold doesn't wait for one who does.
func TestABudgetedFoldDoesNotWait(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	b.run(ask("one"))
	release, err := journal.Open(filepath.Join(b.dir, "data", "journal")).AcquireFold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := b.Fold(t.Context(), time.Hour); n != 0 || err != nil {
		t.Errorf("folded %d, %v", n, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if n, err := b.Fold(ctx, store.FoldAll); n != 0 || ctx.Err() == nil || err == nil {
		t.Errorf("folded %d beside another, %v", n, err)
	}
	release()
	if n, err := b.Fold(t.Context(), time.Hour); n != 1 || err != nil {
		t.Errorf("folded %d, %v", n, err)
	}
}

// badLog is a log whose syncs fail, once so many were done.
type badLog struct {
	eventLog
	left *atomic.Int32
}

func (l badLog) Sync() error {
	if l.left.Add(-1) < 0 {
		return errors.New("the disk is on fire")
	}
	return l.eventLog.Sync()
}

// A sync that fails ends the turn with code store: nothing is shown behind it
// as if nothing had been, also where whoever met the error had to drop it, as
// the notice of a retry does.
func TestASyncThatFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		good int32 // syncs: one before the tool, one after it, one at the end
		want []string
	}{
		"before the tool": {0, []string{"tool_start echo"}},
		"after the tool":  {1, []string{"tool_start echo", "tool_complete echo success", "status"}},
		"at the end": {2, []string{"tool_start echo", "tool_complete echo success", "status",
			`"Done."`, "meta stop"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b *bench
			b, _ = newRogue(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
				switch step {
				case 0:
					if !yield([]provider.Delta{says("I look.")}, nil) { // shown once the question is published
						return
					}
					for _, held := range b.turns { // on the turn's own goroutine, as is all else that uses its log
						held.log = badLog{held.log, new(atomic.Int32)}
						held.log.(badLog).left.Store(c.good)
					}
					yield([]provider.Delta{calls("1", "echo", `{}`), stops("tool_use")}, nil)
				case 1:
					yield(nil, &provider.Error{Kind: provider.Overloaded, Provider: "rogue", Message: "busy"})
				default:
					yield([]provider.Delta{says("Done."), stops("stop")}, nil)
				}
			}, echo())
			var events []event.Event
			var lost error
			for e, err := range b.Follow(t.Context(), b.start(ask("go")), 0) {
				if lost = err; err == nil {
					events = append(events, e)
				}
			}
			want(t, events, append([]string{`"I look."`, "meta tool_use"}, c.want...)...)
			// An end that cannot be kept is not shown: the stream ends with an error.
			if fault.CodeOf(lost) != fault.Store || !strings.Contains(lost.Error(), "the disk is on fire") {
				t.Errorf("ended with %v", lost)
			}
		})
	}
}
