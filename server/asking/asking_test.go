package asking_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/asking"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const limit = 10 * time.Minute

// turn is a turn that asks about calls; it takes one answer to each.
type turn struct {
	mu    sync.Mutex
	given map[string]engine.Confirmation
	order []string
}

func (t *turn) Confirm(ctx context.Context, _ store.TurnID, a engine.Confirmation) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, ok := t.given[a.ToolUseID]; ok {
		return fault.New(fault.NotFound, "the turn asks about no call "+a.ToolUseID)
	}
	t.given[a.ToolUseID] = a
	t.order = append(t.order, a.ToolUseID)
	return nil
}

func (t *turn) answer(id string) (engine.Confirmation, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a, ok := t.given[id]
	return a, ok
}

// begin returns a turn with the id t1 and its questions.
func begin() (*turn, *asking.Questions) {
	t := &turn{given: map[string]engine.Confirmation{}}
	return t, asking.New(asking.Options{Turns: t, Turn: "t1", Limit: limit, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
}

func about(id string) event.ConfirmRequest {
	return event.ConfirmRequest{ToolUseID: id, Tool: "write", ToolID: "files:write", Input: []byte(`{"path":"a"}`)}
}

func allow(id string) engine.Confirmation {
	return engine.Confirmation{ToolUseID: id, Decision: event.Allow}
}

func revision(string) string { return "r1" }

// untilEnd is a client whose user does not answer: it gives up when the question is
// withdrawn.
func untilEnd(id string) func(context.Context) engine.Confirmation {
	return func(ctx context.Context) engine.Confirmation {
		<-ctx.Done()
		return asking.Deny(id, "nobody answered")
	}
}

// Both ways to a user share the ends of a question's life.
func TestLife(t *testing.T) {
	t.Parallel()
	ways := []struct {
		name string
		ask  func(context.Context, *asking.Questions, string)
	}{
		{"shown", func(ctx context.Context, q *asking.Questions, id string) { q.Show(ctx, id, untilEnd(id)) }},
		{"kept", func(ctx context.Context, q *asking.Questions, id string) { q.Put(ctx, about(id), 1, revision) }},
	}
	ends := []struct {
		name   string
		end    func(*asking.Questions, context.CancelFunc)
		denied bool // the turn gets a denial
		late   string
	}{
		{"answered elsewhere", func(q *asking.Questions, _ context.CancelFunc) {
			q.Settled(event.ConfirmResult{ToolUseID: "u", Decision: event.AllowChat})
		}, false, "allowed already, by this process"},
		{"the turn ends", func(q *asking.Questions, _ context.CancelFunc) { q.End() }, false, "denied already, by the end of its turn"},
		{"the client goes, and then the turn ends", func(q *asking.Questions, gone context.CancelFunc) { gone(); q.End() }, false, "denied already, by the end of its turn"},
		{"the time is over", func(*asking.Questions, context.CancelFunc) { time.Sleep(limit + 1) }, true, ""},
	}
	for _, way := range ways {
		for _, c := range ends {
			t.Run(way.name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					to, q := begin()
					ctx, gone := context.WithCancel(t.Context())
					defer gone()
					way.ask(ctx, q, "u")
					synctest.Wait()
					if n := len(q.Waiting()); n != 1 {
						t.Fatalf("%d questions wait, want 1", n)
					}
					c.end(q, gone)
					synctest.Wait()
					got, denied := to.answer("u")
					if denied != c.denied || denied && (got.Decision != event.Deny || !strings.HasPrefix(got.Reason, "nobody answered")) {
						t.Errorf("the turn got %+v (%t)", got, denied)
					}
					if c.late != "" {
						_, err := q.Take("request 1", []asking.Answer{{Confirmation: allow("u")}}, func(string) string { return "" })
						if fault.CodeOf(err) != fault.Busy || !strings.Contains(err.Error(), c.late) {
							t.Errorf("a late answer: %v", err)
						}
						if n := len(q.Waiting()); n != 0 {
							t.Errorf("%d questions wait after the end", n)
						}
					}
					q.End()
				})
			})
		}
	}
}

func TestShowPassesTheAnswerOn(t *testing.T) {
	t.Parallel()
	to, q := begin()
	for _, id := range []string{"a", "b"} {
		q.Show(t.Context(), id, func(context.Context) engine.Confirmation { return allow(id) })
	}
	if n := q.End(); n != 2 {
		t.Errorf("there were %d questions, want 2", n)
	}
	q.Show(t.Context(), "c", func(context.Context) engine.Confirmation { return allow("c") })
	if q.Put(t.Context(), about("d"), 4, revision) != nil {
		t.Error("a turn that has ended asks")
	}
	q.End()
	for _, id := range []string{"c", "d"} {
		if got, ok := to.answer(id); ok {
			t.Errorf("%s: a turn that has ended was answered %+v", id, got)
		}
	}
}

// The end of a turn withdraws what is shown before the turn's last answer is passed on, and
// an answer of that moment is dropped or passed on, never both times.
func TestAnswersRace(t *testing.T) {
	t.Parallel()
	for range 50 {
		to, q := begin()
		for _, id := range []string{"a", "b", "c"} {
			q.Show(t.Context(), id, func(context.Context) engine.Confirmation { return allow(id) })
			go q.Settled(event.ConfirmResult{ToolUseID: id, Decision: event.Deny})
		}
		q.End()
		to.mu.Lock()
		sorted := slices.Sorted(slices.Values(to.order))
		if len(slices.Compact(sorted)) != len(to.order) {
			t.Errorf("a call was answered twice: %v", to.order)
		}
		to.mu.Unlock()
	}
}

func TestPutAsksOnce(t *testing.T) {
	t.Parallel()
	_, q := begin()
	var read int // guarded by Put itself
	version := func(id string) string { read++; return id }
	all := make([]*asking.Question, 8)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { all[i] = q.Put(t.Context(), about("u"), 7, version) })
	}
	wg.Wait()
	for _, a := range all {
		if a == nil || a != all[0] {
			t.Fatalf("several questions about one call: %v", all)
		}
	}
	if read != 1 || all[0].Version != "files:write" || all[0].Nonce == "" || all[0].Seq != 7 {
		t.Errorf("the version was read %d times: %+v", read, all[0])
	}
	q.Settled(event.ConfirmResult{ToolUseID: "u", Decision: event.Deny})
	if q.Put(t.Context(), about("u"), 7, version) != nil {
		t.Error("a question that is answered is asked again")
	}
	q.End()
}

// Of the clients that answer at once one has the question.
func TestTakeIsWonOnce(t *testing.T) {
	t.Parallel()
	_, q := begin()
	a := q.Put(t.Context(), about("u"), 3, revision)
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = q.Take("request", []asking.Answer{{Confirmation: allow("u"), Nonce: a.Nonce, Shown: true}}, revision)
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		var f *fault.Fault
		switch {
		case err == nil:
			won++
		case !errors.As(err, &f) || f.Code != fault.Busy || !slices.Contains(f.Detail, "by request"):
			t.Errorf("a late answer: %v", err)
		}
	}
	if won != 1 {
		t.Errorf("%d answers were taken, want 1", won)
	}
	q.End()
}

func TestTakeRefuses(t *testing.T) {
	t.Parallel()
	form := about("form")
	form.Form = &event.Form{Kind: event.FieldsForm, Fields: []event.FormField{{Name: "seat", Type: event.StringField, Required: true}}}
	for _, c := range []struct {
		name    string
		answers []asking.Answer
		version string
		code    fault.Code
		want    string
	}{
		{"what was not asked", []asking.Answer{{Confirmation: allow("a")}, {Confirmation: allow("x")}}, "r1", fault.NotFound, "turn t1 asks about no such call"},
		{"another nonce", []asking.Answer{{Confirmation: allow("a")}, {Confirmation: allow("b"), Nonce: "guess", Shown: true}}, "r1", fault.Usage, "nonce"},
		{"another version", []asking.Answer{{Confirmation: allow("a")}}, "r2", fault.Busy, "toolset was changed"},
		{"a form without its field", []asking.Answer{{Confirmation: allow("a")}, {Confirmation: allow("form")}}, "r1", fault.Usage, "form is not filled in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, q := begin()
			for i, ask := range []event.ConfirmRequest{about("a"), about("b"), form} {
				q.Put(t.Context(), ask, event.Seq(i+1), revision)
			}
			_, err := q.Take("request", c.answers, func(string) string { return c.version })
			if fault.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s with %q", err, c.code, c.want)
			}
			if n := len(q.Waiting()); n != 3 {
				t.Errorf("%d questions wait after a refused answer, want 3", n)
			}
			last, err := q.Take("request", []asking.Answer{{Confirmation: asking.Deny("b", "")}, {Confirmation: allow("a")}}, revision)
			if err != nil || last != 2 {
				t.Errorf("the next answer: event %d, %v", last, err)
			}
			q.End()
		})
	}
}

func TestPatientHasNoLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		to, q := begin()
		q.Put(t.Context(), about("before"), 1, revision)
		q.Patient()
		q.Put(t.Context(), about("after"), 2, revision)
		time.Sleep(100 * limit)
		synctest.Wait()
		if n := len(q.Waiting()); n != 2 || len(to.given) != 0 {
			t.Errorf("%d questions wait, and the turn got %v", n, to.given)
		}
		q.End()
	})
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	if a := asking.Only("u", []string{"x"}); a.Decision != event.Allow || !slices.Equal(a.Only, []string{"x"}) || a.All {
		t.Errorf("one file: %+v", a)
	}
	if a := asking.Only("u", nil); a.Decision != event.Deny || a.Only != nil {
		t.Errorf("no file: %+v", a)
	}
	ask := event.ConfirmRequest{ToolUseID: "u", Form: &event.Form{Kind: event.FieldsForm, Fields: []event.FormField{{Name: "n", Type: event.IntegerField}}}}
	if a := asking.Filled(&ask, []byte(`{"n":1}`), "why"); a.Decision != event.Allow || string(a.Content) != `{"n":1}` {
		t.Errorf("what fits: %+v", a)
	}
	if a := asking.Filled(&ask, []byte(`{"n":"one"}`), "why"); a.Decision != event.Deny || a.Content != nil || a.Reason != "why" {
		t.Errorf("what doesn't fit: %+v", a)
	}
	for _, c := range []struct {
		rule  string
		whole bool
		want  string
	}{{"write", true, "write"}, {"write", false, ""}, {"a\nb", true, "a ␤ b"}, {strings.Repeat("x", 1001), true, ""}, {"", true, ""}} {
		if got := asking.Rule(c.rule, c.whole); got != c.want {
			t.Errorf("Rule(%q, %t) = %q, want %q", c.rule, c.whole, got, c.want)
		}
	}
}
