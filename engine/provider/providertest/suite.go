package providertest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

const (
	// hangUp bounds how long a provider may take to close its connection. It
	// is far more than one needs, since the machine may be busy.
	hangUp = 10 * time.Second
	// short is a limit that a case waits out.
	short = 60 * time.Millisecond
)

// Run runs the suite. Its cases are subtests that run side by side.
func Run(t *testing.T, h Harness) {
	names := map[string]bool{}
	for _, c := range cases() {
		names[c.name] = true
		if why, lacks := h.Lacks[c.name]; lacks {
			if why == "" {
				t.Errorf("%s is not run, without a reason", c.name)
			}
			t.Logf("%s is not run: %s", c.name, why)
			continue
		}
		if c.http && !h.HTTP {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, h)
		})
	}
	for name := range h.Lacks {
		if !names[name] {
			t.Errorf("there is no case %q to leave out", name)
		}
	}
}

// cases are all cases; the table in the package's comment has each.
func cases() []oneCase {
	below := httpCases()
	for i := range below {
		below[i].http = true
	}
	return slices.Concat(answerCases(), callCases(), choiceCases(), requestCases(), historyCases(), failureCases(), endCases(), below)
}

// oneCase is one behaviour.
type oneCase struct {
	name string
	run  func(t *testing.T, h Harness)
	http bool // about a server below the wire format
}

// ask is the plainest request.
func ask(s *Session) *provider.Request {
	return &provider.Request{Model: s.Model, Messages: []provider.Message{
		{Role: provider.User, Parts: []provider.Part{{Kind: provider.TextPart, Text: "hi"}}},
	}}
}

// withTool is a request with a tool.
func withTool(s *Session) *provider.Request {
	req := ask(s)
	req.Tools = []provider.ToolSpec{{
		Name: "get_weather", Description: "tells the weather",
		InputSchema: []byte(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
	}}
	return req
}

// heard is a response as it was heard.
type heard struct {
	batches [][]provider.Delta
	all     []provider.Delta
	err     error
}

// listen hears a response to its end. Deltas are copied, since a batch is
// valid only until the next.
func listen(seq iter.Seq2[[]provider.Delta, error]) heard {
	var h heard
	for batch, err := range seq {
		if err != nil {
			h.err = err
			continue
		}
		h.batches = append(h.batches, slices.Clone(batch))
		h.all = append(h.all, batch...)
	}
	return h
}

// ok hears a response that has to be whole, with what holds for each.
func ok(t *testing.T, s *Session, req *provider.Request) heard {
	t.Helper()
	h := listen(s.Provider.Stream(t.Context(), req))
	if h.err != nil {
		t.Fatalf("it failed: %v", h.err)
	}
	CheckResponse(t, h.all, nil)
	for i, b := range h.batches {
		if len(b) == 0 {
			t.Errorf("batch %d is empty", i)
		}
	}
	return h
}

func (h heard) text(kind provider.DeltaKind) string {
	var b strings.Builder
	for _, d := range h.all {
		if d.Kind == kind {
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

func (h heard) notes() []string {
	var out []string
	for _, d := range h.all {
		if d.Kind == provider.Footnote {
			out = append(out, d.Text)
		}
	}
	return out
}

func (h heard) calls() []provider.ToolCall {
	var out []provider.ToolCall
	for _, d := range h.all {
		if d.Kind == provider.CallDelta {
			out = append(out, *d.Call)
		}
	}
	return out
}

func (h heard) meta() event.Meta {
	for _, d := range h.all {
		if d.Kind == provider.Meta {
			return *d.Meta
		}
	}
	return event.Meta{}
}

func text(pieces ...string) []Piece {
	out := make([]Piece, 0, len(pieces))
	for _, p := range pieces {
		out = append(out, Piece{Text: p})
	}
	return out
}

// answerCases are about what is said.
func answerCases() []oneCase {
	return []oneCase{
		{name: "text", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{Writes: [][]Piece{text("Hello", " from"), text(" a \"model\"\n", "é😀")}})
			got := ok(t, s, ask(s))
			if want := "Hello from a \"model\"\né😀"; got.text(provider.Content) != want {
				t.Errorf("it said %q", got.text(provider.Content))
			}
		}},
		{name: "reasoning then text", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{Writes: [][]Piece{{{Reasoning: "Let me"}, {Reasoning: " see."}}, text("Oslo")}})
			got := ok(t, s, ask(s))
			if got.text(provider.Reasoning) != "Let me see." || got.text(provider.Content) != "Oslo" {
				t.Errorf("it thought %q and said %q", got.text(provider.Reasoning), got.text(provider.Content))
			}
			if got.all[0].Kind != provider.Reasoning {
				t.Errorf("it began with %s", got.all[0].Kind)
			}
		}},
		{name: "what is written at once is one batch", run: func(t *testing.T, h Harness) {
			pieces := text("a", "b", "c", "d", "e", "f", "g", "h")
			s := h.Start(t, Config{}, Play{Writes: [][]Piece{pieces, pieces}})
			n := 0
			for _, batch := range ok(t, s, ask(s)).batches {
				for _, d := range batch {
					if d.Kind == provider.Content {
						n++
					}
				}
				if n%len(pieces) != 0 { // two writes may be read at once, but none in parts
					t.Errorf("a batch ends after %d pieces: %v", n, batch)
				}
			}
		}},
		{name: "usage", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{Writes: [][]Piece{text("Hi")}, Usage: &event.Usage{InputTokens: 12, OutputTokens: 3}})
			if u := ok(t, s, ask(s)).meta().Usage; u == nil || u.InputTokens != 12 || u.OutputTokens != 3 {
				t.Errorf("usage %+v", u)
			}
		}},
		{name: "stop reasons", run: func(t *testing.T, h Harness) {
			for _, reason := range []string{provider.StopEnd, provider.StopLength} {
				s := h.Start(t, Config{}, Play{Writes: [][]Piece{text("Hi")}, Stop: reason})
				if got := ok(t, s, ask(s)).meta().StopReason; got != reason {
					t.Errorf("%s arrives as %s", reason, got)
				}
			}
		}},
		{name: "several at once", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{Writes: [][]Piece{text("Hello"), text(" there")}})
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					got := listen(s.Provider.Stream(t.Context(), ask(s)))
					if got.err != nil || got.text(provider.Content) != "Hello there" {
						t.Errorf("it said %q, %v", got.text(provider.Content), got.err)
					}
				})
			}
			wg.Wait()
		}},
	}
}

// endCases are about responses that somebody ends.
func endCases() []oneCase {
	hang := Play{Writes: [][]Piece{text("Hello")}, End: Hang}
	return []oneCase{
		{name: "cancel", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, hang)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var err error
			for batch, e := range s.Provider.Stream(ctx, ask(s)) {
				if err = e; len(batch) > 0 {
					cancel()
				}
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("it ended with %v", err)
			}
			s.hungUp(t)
		}},
		{name: "break", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, hang)
			for range s.Provider.Stream(t.Context(), ask(s)) {
				break
			}
			s.hungUp(t)
		}},
		{name: "a call waits for the end", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{Between: short, FirstByte: short}, Play{
				Writes: [][]Piece{text("Let me see."), {{Call: &Call{ID: "call_1", Name: "get_weather", Args: `{"city":"Oslo"}`}}}},
				End:    Hang,
			})
			got := listen(s.Provider.Stream(t.Context(), withTool(s)))
			wantKind(t, got, provider.SlowStart)
			if len(got.calls()) > 0 {
				t.Errorf("it called %v", got.calls())
			}
		}},
		{name: "cancelled before it begins", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, hang)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			got := listen(s.Provider.Stream(ctx, ask(s)))
			if !errors.Is(got.err, context.Canceled) || len(got.all) > 0 {
				t.Errorf("it gave %v, %v", got.all, got.err)
			}
		}},
	}
}

// hungUp waits for the other side to notice that the provider has gone.
func (s *Session) hungUp(t *testing.T) {
	t.Helper()
	if s.Gone == nil {
		return
	}
	select {
	case <-s.Gone:
	case <-time.After(hangUp):
		t.Errorf("the connection is still open after %v", hangUp)
	}
}
