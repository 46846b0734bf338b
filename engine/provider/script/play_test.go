package script

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
)

// play plays a request to its end and keeps its batches, with their waits.
func play(ctx context.Context, p provider.Provider, req *provider.Request) ([]batch, error) {
	var out []batch
	since := time.Now()
	for deltas, err := range p.Stream(ctx, req) {
		if err != nil {
			return out, err
		}
		out = append(out, batch{wait: time.Since(since), deltas: slices.Clone(deltas)})
		since = time.Now()
	}
	return out, nil
}

func deltasOf(batches []batch) [][]provider.Delta {
	var out [][]provider.Delta
	for _, b := range batches {
		out = append(out, b.deltas)
	}
	return out
}

func rawList(texts ...string) []json.RawMessage {
	var out []json.RawMessage
	for _, s := range texts {
		out = append(out, json.RawMessage(s))
	}
	return out
}

func TestPace(t *testing.T) {
	t.Parallel()
	p := holding(map[string]string{
		"paced.yaml": `
pace: 20ms
responses:
  - {reasoning: hm hm, text: a b c, calls: [{name: f}]}
  - {text: a b c, pace: 1s}
  - deltas: [{content: a}, {wait: 300ms, content: b}, {wait: 0, content: c}, {meta: {}}]
  - {text: a b, cut: true}`,
		"instant.yaml": "pace: 20ms\ninstant: true\nresponses: [{text: a b c}]",
	})
	hurried := New(Options{FS: p.o.FS, Instant: true})
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			p     *Provider
			model string
			so    int // answers so far
			want  []time.Duration
		}{
			{p, ":paced", 0, ms(20, 20, 20, 20, 20, 20)},
			{p, ":paced", 1, ms(1000, 1000, 1000, 0)},
			{p, ":paced", 2, ms(20, 300, 0, 0)},
			{p, ":paced", 3, ms(20, 20)},
			{p, ":instant", 0, ms(0, 0, 0, 0)},
			{hurried, ":paced", 1, ms(0, 0, 0, 0)},
		} {
			req := ask(c.model)
			for range c.so {
				req.Messages = append(req.Messages, said("a:x")...)
			}
			batches, _ := play(t.Context(), c.p, req)
			var waits []time.Duration
			for _, b := range batches {
				waits = append(waits, b.wait)
			}
			if diff := cmp.Diff(c.want, waits); diff != "" {
				t.Errorf("%s, %d answers so far:\n%s", c.model, c.so, diff)
			}
		}
	})
}

func ms(ns ...int) []time.Duration {
	var out []time.Duration
	for _, n := range ns {
		out = append(out, time.Duration(n)*time.Millisecond)
	}
	return out
}

func TestHowAResponseBreaks(t *testing.T) {
	t.Parallel()
	p := holding(map[string]string{"b.yaml": `
responses:
  - {when: cut, text: as far as, cut: true}
  - {when: plain, error: {kind: overloaded}}
  - {when: full, text: as far as, error: {kind: rate_limited, status: 429, message: "slow \e[1mdown\n", retry_after: 2500ms}}
  - {when: tools, error: {kind: unsupported, feature: tools, message: no tools here}}
  - {when: listed, deltas: [{content: as far as}], error: {kind: broken}}
`})
	for question, want := range map[string]provider.Error{
		"cut":    {Kind: provider.Broken, Err: provider.ErrCut},
		"plain":  {Kind: provider.Overloaded, Message: "the provider is overloaded"},
		"full":   {Kind: provider.RateLimited, Status: 429, Message: "slow \ufffd[1mdown ", RetryAfter: 2500 * time.Millisecond},
		"tools":  {Kind: provider.Unsupported, Feature: provider.FeatureTools, Message: "no tools here"},
		"listed": {Kind: provider.Broken, Message: "the connection broke"},
	} {
		want.Provider, want.Model = "script", ":b"
		deltas, err := gather(t, p, &provider.Request{Model: ":b", Messages: said("u:" + question)})
		providertest.CheckResponse(t, deltas, err)
		var e *provider.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", question, err)
			continue
		}
		if got := *e; got != want {
			t.Errorf("%s: %+v", question, got)
		}
		if text := joined(deltas, provider.Content); text != "as far as" && text != "" {
			t.Errorf("%s: %q", question, text)
		}
	}
}

func TestEveryKindOfErrorHasAName(t *testing.T) {
	t.Parallel()
	for kind := provider.Broken; kind <= provider.Undecodable; kind++ {
		row := kindOf(kind)
		if row.kind != kind || row.name == "" || row.message == "" {
			t.Errorf("kind %d is %+v", kind, row)
		}
		text := "responses: [{error: {kind: " + row.name + ", feature: images}}]"
		if kind != provider.Unsupported {
			text = strings.Replace(text, ", feature: images", "", 1)
		}
		_, err := gather(t, holding(map[string]string{"k.yaml": text}), ask(":k"))
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != kind {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	if row := kindOf(provider.Undecodable + 1); row.kind != provider.Broken {
		t.Errorf("a kind that nobody knows is %+v", row)
	}
}

func TestEndingTheContext(t *testing.T) {
	t.Parallel()
	gone := errors.New("the caller is gone")
	for name, script := range map[string]string{
		"while it hangs":      "responses: [{text: a, hang: true}]",
		"in a wait":           "responses: [{text: a b c, pace: 10s}]",
		"in a wait of a list": "responses: [{deltas: [{wait: 1h, content: a}]}]",
	} {
		p := holding(map[string]string{"h.yaml": script})
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				begun := time.Now()
				time.AfterFunc(12*time.Second, func() { cancel(gone) })
				_, err := play(ctx, p, ask(":h"))
				var e *provider.Error
				if !errors.As(err, &e) || e.Kind != provider.Broken || !errors.Is(err, gone) {
					t.Errorf("got %v", err)
				}
				if took := time.Since(begun); took != 12*time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
	p := holding(map[string]string{"i.yaml": "responses: [{text: a b c d e f}]"})
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	n := 0
	var last error
	for _, err := range p.Stream(ctx, ask(":i")) {
		if n++; n == 2 {
			cancel(gone)
		}
		last = err
	}
	if n != 3 || !errors.Is(last, gone) {
		t.Errorf("without waits: %d batches, then %v", n, last)
	}
	if _, err := play(ctx, p, ask(":i")); !errors.Is(err, gone) {
		t.Errorf("with a dead context: %v", err)
	}
}

func TestHangingEndsInTheEnd(t *testing.T) {
	t.Parallel()
	p := holding(map[string]string{"h.yaml": "responses: [{hang: true}]"})
	synctest.Test(t, func(t *testing.T) {
		_, err := play(t.Context(), p, ask(":h"))
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != provider.SlowStart {
			t.Errorf("got %v", err)
		}
	})
}

func TestBreakingOut(t *testing.T) {
	t.Parallel()
	p := holding(map[string]string{"b.yaml": "responses: [{text: a b c d, hang: true}]"})
	n := 0
	for range p.Stream(t.Context(), ask(":b")) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d batches", n)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":               nil,
		" ":              {" "},
		"a":              {"a"},
		" a":             {" ", "a"},
		"a  b\n\nc":      {"a  ", "b\n\n", "c"},
		"a\u00a0b\u3000": {"a\u00a0", "b\u3000"},
	} {
		got := slices.Collect(words(text))
		if !slices.Equal(got, want) || strings.Join(got, "") != text {
			t.Errorf("%q: %q", text, got)
		}
	}
}
