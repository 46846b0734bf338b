package provider

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
)

// tries plays one response a try.
type tries struct {
	named
	plays []func(yield func([]Delta, error) bool)
	asked int
}

func (p *tries) Stream(context.Context, *Request) iter.Seq2[[]Delta, error] {
	play := p.plays[min(p.asked, len(p.plays)-1)]
	p.asked++
	return play
}

func fails(err error, before ...Delta) func(func([]Delta, error) bool) {
	return func(yield func([]Delta, error) bool) {
		if len(before) > 0 && !yield(slices.Clone(before), nil) {
			return
		}
		yield(nil, err)
	}
}

func answers(text string) func(func([]Delta, error) bool) {
	return func(yield func([]Delta, error) bool) {
		_ = yield([]Delta{{Kind: Content, Text: text}}, nil) &&
			yield([]Delta{{Kind: Meta, Meta: &event.Meta{StopReason: StopEnd}}}, nil)
	}
}

func collect(seq iter.Seq2[[]Delta, error]) (text string, err error) {
	for batch, err := range seq {
		if err != nil {
			return text, err
		}
		for _, d := range batch {
			text += d.Text
		}
	}
	return text, nil
}

func TestRetry(t *testing.T) {
	t.Parallel()
	overloaded := &Error{Kind: Overloaded, Status: 503}
	limited := func(d time.Duration) error { return &Error{Kind: RateLimited, Status: 429, RetryAfter: d} }
	slow := &Error{Kind: SlowStart}
	footnote := Delta{Kind: Footnote, Text: "(without images) "}
	for name, c := range map[string]struct {
		plays []func(func([]Delta, error) bool)
		asked int
		text  string
		err   error
		least time.Duration
		most  time.Duration
	}{
		"succeeds at the third": {
			plays: []func(func([]Delta, error) bool){fails(overloaded), fails(overloaded), answers("hi")},
			asked: 3, text: "hi", least: 1500 * time.Millisecond, most: 3 * time.Second,
		},
		"gives up": {
			plays: []func(func([]Delta, error) bool){fails(overloaded)},
			asked: 5, err: overloaded, least: 7500 * time.Millisecond, most: 15 * time.Second,
		},
		"waits as it is told": {
			plays: []func(func([]Delta, error) bool){fails(limited(40 * time.Second)), answers("hi")},
			asked: 2, text: "hi", least: 40 * time.Second, most: 44 * time.Second,
		},
		"but not for hours": {
			plays: []func(func([]Delta, error) bool){fails(limited(3 * time.Hour)), answers("hi")},
			asked: 1, err: limited(0),
		},
		"nor sooner than it would by itself": {
			plays: []func(func([]Delta, error) bool){fails(limited(time.Millisecond)), answers("hi")},
			asked: 2, text: "hi", least: 500 * time.Millisecond, most: time.Second,
		},
		"a refusal is final": {
			plays: []func(func([]Delta, error) bool){fails(&Error{Kind: Rejected})},
			asked: 1, err: &Error{},
		},
		"another error is final": {
			plays: []func(func([]Delta, error) bool){fails(errors.New("odd"))},
			asked: 1, err: errors.New(""),
		},
		"nothing is said twice": {
			plays: []func(func([]Delta, error) bool){fails(overloaded, Delta{Kind: Content, Text: "he"}), answers("hello")},
			asked: 1, text: "he", err: overloaded,
		},
		"reasoning is not repeated either": {
			plays: []func(func([]Delta, error) bool){fails(overloaded, Delta{Kind: Reasoning, Text: "hm"}), answers("hello")},
			asked: 1, text: "hm", err: overloaded,
		},
		"nor is a call": {
			plays: []func(func([]Delta, error) bool){fails(overloaded, Delta{Kind: CallDelta, Call: &ToolCall{}}), answers("hello")},
			asked: 1, err: overloaded,
		},
		"a footnote does not forbid it and is said once": {
			plays: []func(func([]Delta, error) bool){fails(overloaded, footnote), fails(overloaded, footnote), answers("hi")},
			asked: 3, text: "(without images) hi", least: 1500 * time.Millisecond, most: 3 * time.Second,
		},
		"a slow one is asked twice": {
			plays: []func(func([]Delta, error) bool){fails(slow)},
			asked: 2, err: slow, least: 500 * time.Millisecond, most: time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &tries{plays: c.plays}
				var told int
				r := Retry(p, RetryOptions{OnRetry: func(err error, wait time.Duration, attempt int) {
					if told++; attempt != told+1 || err == nil || wait <= 0 {
						t.Errorf("told of attempt %d after %v, %v", attempt, wait, err)
					}
				}})
				begun := time.Now()
				text, err := collect(r.Stream(t.Context(), &Request{}))
				took := time.Since(begun)
				if p.asked != c.asked || told != c.asked-1 || text != c.text || (err != nil) != (c.err != nil) {
					t.Errorf("asked %d, told %d, got %q, %v", p.asked, told, text, err)
				}
				if took < c.least || took > c.most {
					t.Errorf("it took %v, want %v to %v", took, c.least, c.most)
				}
			})
		})
	}
}

func TestRetryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		p := &tries{plays: []func(func([]Delta, error) bool){fails(&Error{Kind: RateLimited, RetryAfter: time.Minute})}}
		begun := time.Now()
		_, err := collect(Retry(p, RetryOptions{}).Stream(ctx, &Request{}))
		if err == nil || p.asked != 1 || time.Since(begun) != 10*time.Second {
			t.Errorf("asked %d in %v, %v", p.asked, time.Since(begun), err)
		}
	})
}

func TestRetryStopsWithItsConsumer(t *testing.T) {
	t.Parallel()
	p := &tries{plays: []func(func([]Delta, error) bool){answers("hi")}}
	for range Retry(p, RetryOptions{}).Stream(t.Context(), &Request{}) {
		break
	}
	if p.asked != 1 {
		t.Errorf("asked %d times", p.asked)
	}
}

type lists struct{ named }

func (lists) Models(context.Context) ([]Model, error) { return []Model{{Name: "m"}}, nil }

func TestRetryKeepsWhatTheProviderCan(t *testing.T) {
	t.Parallel()
	r := Retry(lists{"x"}, RetryOptions{})
	l, ok := r.(Lister)
	if !ok || r.Name() != "x" {
		t.Fatalf("%T is no Lister", r)
	}
	if m, err := l.Models(t.Context()); err != nil || len(m) != 1 {
		t.Errorf("models %v, %v", m, err)
	}
	u, ok := r.(interface{ Unwrap() Provider })
	if !ok || u.Unwrap() != Provider(lists{"x"}) {
		t.Errorf("%T does not unwrap", r)
	}
	if _, ok := Retry(named("y"), RetryOptions{}).(Lister); ok {
		t.Error("a provider that lists nothing became a Lister")
	}
}
