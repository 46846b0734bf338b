package engine

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// failingWrites makes the journal writes of a bench fail that fail selects, each after
// a part of its bytes, as on a full disk.
func (b *bench) failingWrites(fail func(line []byte) bool) {
	b.Journals.HookWrites(func(f *os.File, line []byte, at int64) (int, error) {
		if !fail(line) {
			return f.WriteAt(line, at)
		}
		if _, err := f.WriteAt(line[:len(line)/2], at); err != nil {
			b.t.Error(err)
		}
		return 0, errors.New("no space left on device")
	})
}

// seen follows a turn and returns what was shown, and the error that ended it.
func (b *bench) seen(id store.TurnID) (events []event.Event, failed error) {
	b.t.Helper()
	for e, err := range b.Follow(b.t.Context(), id, 0) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

// sameAsKept checks that all that was shown of a turn is what another process reads.
func (b *bench) sameAsKept(id store.TurnID, shown []event.Event) []event.Event {
	b.t.Helper()
	kept := b.reopen().follow(id)
	for i, e := range shown {
		was, _ := e.Append(nil)
		if is, _ := kept[min(i, len(kept)-1)].Append(nil); !bytes.Equal(was, is) {
			b.t.Errorf("shown %s, kept %s", was, is)
		}
	}
	return kept
}

// If the last event can't be written, a shorter one takes its place, and if that can't
// be either, followers get an error that is not an event. What was shown is what is
// kept in all cases.
func TestTheEndThatIsShownIsTheEndThatIsKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail   func(line []byte) bool
		events string
		err    bool
		kept   string
	}{
		"the whole answer does not fit": {
			func(line []byte) bool { return bytes.Contains(line, []byte(`"type":"complete"`)) },
			"\"Yes.\"\nmeta stop\nerror store", false, "\"Yes.\"\nmeta stop\nerror store",
		},
		"no end fits": {
			func(line []byte) bool {
				return bytes.Contains(line, []byte(`"type":"complete"`)) || bytes.Contains(line, []byte(`"type":"error"`))
			},
			"\"Yes.\"\nmeta stop", true, "\"Yes.\"\nmeta stop\nerror interrupted",
		},
		"nothing fits after the first word": {
			func(line []byte) bool {
				return bytes.Contains(line, []byte(`"seq":`)) && !bytes.Contains(line, []byte(`"text_delta"`))
			},
			`"Yes."`, true, "\"Yes.\"\nerror interrupted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, `{responses: [{text: Yes.}]}`)
			b.failingWrites(c.fail)
			id := b.start(ask("go"))
			shown, err := b.seen(id)
			if got := outline(shown); got != c.events || (err != nil) != c.err {
				t.Errorf("shown:\n%s\n%v", got, err)
			}
			if err != nil && fault.CodeOf(err) != fault.Store {
				t.Errorf("ended with %v", err)
			}
			if _, late := b.seen(id); (late != nil) != c.err {
				t.Errorf("a late follower got %v", late)
			}
			want(t, b.sameAsKept(id, shown), splitLines(c.kept)...)
			if m := b.chat(1).Messages[1]; m.Text() != "Yes." || m.Status == chat.Answered {
				t.Errorf("kept %q as %s", m.Text(), m.Status)
			}
		})
	}
}

func splitLines(s string) (out []string) {
	for line := range bytes.SplitSeq([]byte(s), []byte{'\n'}) {
		out = append(out, string(line))
	}
	return out
}

// A question that was stopped before the first word of an answer stays, with that
// end: its id answers, its chat is listed and can be continued.
func TestAQuestionThatWasStoppedBeforeItsFirstWordStays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stop   func(*bench, store.TurnID)
		end    string
		status chat.Status
	}{
		"by a cancel":     {func(b *bench, id store.TurnID) { b.Cancel(b.t.Context(), id) }, "cancelled", chat.Stopped},
		"by fettle's end": {func(b *bench, _ store.TurnID) { b.Close() }, "error interrupted", chat.CutShort},
		"by its time":     {nil, "error timeout", chat.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked, answers atomic.Bool
			b, r := newRogue(t, func(ctx context.Context, _ int, yield func([]provider.Delta, error) bool) {
				asked.Store(true)
				if answers.Load() {
					yield([]provider.Delta{says("Here."), stops("stop")}, nil)
					return
				}
				<-ctx.Done()
				yield(nil, context.Cause(ctx))
			})
			req := ask("a long question")
			req.DiscardUnanswered = true
			if c.stop == nil {
				req.Timeout = time.Millisecond
			}
			id := b.start(req)
			if c.stop != nil {
				until(t, "the request", asked.Load)
				c.stop(b, id)
			}
			b.seen(id) // until it has ended
			answers.Store(true)
			other := &bench{t: t, dir: b.dir, Engine: New(rogueOptions(t, b.dir, r, nil))}
			defer other.Close()
			want(t, other.follow(id), c.end)
			page, err := other.Chats(t.Context(), store.ListChats{})
			if err != nil || len(page.Chats) != 1 {
				t.Fatalf("chats: %+v, %v", page.Chats, err)
			}
			conv := other.chat(1)
			if len(conv.Messages) != 2 || conv.Messages[0].Text() != "a long question" || conv.Messages[1].Status != c.status {
				t.Errorf("kept: %+v", conv.Messages)
			}
			next := ask("go on")
			next.Chat.Number = 1
			if got := outline(other.run(next)); got != "\"Here.\"\nmeta stop\ncomplete" {
				t.Errorf("the chat goes on with\n%s", got)
			}
		})
	}
}

// A question that no model could be asked leaves nothing, if the caller requests that.
func TestOnlyAQuestionThatCouldNotBeAskedIsDiscarded(t *testing.T) {
	t.Parallel()
	for kind, stays := range map[provider.Kind]bool{
		provider.Unreachable: false, provider.Unauthorised: false, provider.UnknownModel: false, provider.ContextFull: false,
		provider.Overloaded: true, provider.RateLimited: true, provider.Rejected: true,
		provider.Broken: true, provider.SlowStart: true, provider.Undecodable: true,
	} {
		b, _ := newRogue(t, func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
			yield(nil, &provider.Error{Kind: kind, Provider: "rogue", Message: "no"})
		})
		req := ask("go")
		req.DiscardUnanswered = true
		b.run(req)
		page, err := b.Chats(t.Context(), store.ListChats{})
		if err != nil || (len(page.Chats) == 1) != stays {
			t.Errorf("kind %d: %d chats, %v", kind, len(page.Chats), err)
		}
	}
}
