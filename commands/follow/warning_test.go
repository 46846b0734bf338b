package follow_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/client"
)

// warned is a turn that has a warning and an ordinary remark.
type warned struct{ client.Turns }

func (warned) Cancel(context.Context, store.TurnID) error { return nil }

func (warned) TurnChat(store.TurnID) (chat.Chat, bool) { return chat.Chat{}, false }

func (warned) SyncTime(store.TurnID) time.Duration { return 0 }

func (warned) Follow(context.Context, store.TurnID, event.Seq) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, b := range []event.Body{
			event.Footnote{Text: "an ordinary remark"}, event.Footnote{Text: "look\x1b[2J for .git", Warning: true},
			event.TextDelta{Text: "the answer"}, event.Complete{},
		} {
			if !yield(event.Event{Body: b}, nil) {
				return
			}
		}
	}
}

// A warning reaches standard error once, in every form of output, in a pipe and with -q,
// where other footnotes are not shown.
func TestWarningsArePrintedInEveryForm(t *testing.T) {
	t.Parallel()
	for _, output := range []string{"text", "json", "events"} {
		for _, quiet := range []bool{false, true} {
			s := term.Test(term.TestOptions{})
			rt := workbench.New(s.Streams)
			rt.Quiet, rt.Turns = quiet, warned{}
			v := follow.New(rt, follow.Options{Output: output, Quiet: quiet}, nil)
			if err := follow.Turn(t.Context(), rt, warned{}, "turn", v); err != nil {
				t.Fatalf("%s: %v", output, err)
			}
			if text := s.Stderr.String(); strings.Count(text, "for .git") != 1 || strings.Contains(text, "\x1b") || strings.Contains(text, "ordinary") {
				t.Errorf("%s, quiet %v: standard error is %q", output, quiet, text)
			}
		}
	}
}
