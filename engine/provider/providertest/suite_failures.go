package providertest

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
)

// wantKind checks that a response ended in an error of a kind.
func wantKind(t *testing.T, h heard, kind provider.Kind) *provider.Error {
	t.Helper()
	var e *provider.Error
	if !errors.As(h.err, &e) || e.Kind != kind {
		t.Fatalf("it ended with %v (%T), want the kind %s", h.err, h.err, KindName(kind))
	}
	if e.Provider == "" || e.Model == "" || strings.ContainsAny(e.Error(), "\n\r\x1b") || strings.Contains(e.Error(), Key) {
		t.Errorf("the error is %+q", e)
	}
	for _, d := range h.all {
		if d.Kind == provider.Meta || d.Kind == provider.CallDelta {
			t.Errorf("it gave a %s delta before it failed", d.Kind)
		}
	}
	return e
}

// failureCases are about requests that fail.
func failureCases() []oneCase {
	return append(append(refusalCases(), brokenCases()...), slowCases()...)
}

// brokenCases are about responses that go wrong.
func brokenCases() []oneCase {
	return []oneCase{
		{name: "error in the stream", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{Writes: [][]Piece{text("Hel"), {{Error: "backend\n\x1b[31mdied"}}}})
			got := listen(s.Provider.Stream(t.Context(), ask(s)))
			var e *provider.Error
			if !errors.As(got.err, &e) || !strings.Contains(e.Message, "died") || got.text(provider.Content) != "Hel" {
				t.Fatalf("it said %q and ended with %v", got.text(provider.Content), got.err)
			}
			wantKind(t, got, e.Kind)
		}},
		{name: "cut", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{Writes: [][]Piece{text("Hel")}, End: Cut})
			got := listen(s.Provider.Stream(t.Context(), ask(s)))
			if e := wantKind(t, got, provider.Broken); !errors.Is(e, provider.ErrCut) || !e.Retryable() {
				t.Errorf("the error is %+v", e)
			}
			if got.text(provider.Content) != "Hel" {
				t.Errorf("it said %q", got.text(provider.Content))
			}
		}},
		{name: "garbage", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{Writes: [][]Piece{text("Hel"), {{Garbage: true}}, text("lo")}})
			got := listen(s.Provider.Stream(t.Context(), ask(s)))
			wantKind(t, got, provider.Undecodable)
			if got.text(provider.Content) != "Hel" {
				t.Errorf("it said %q", got.text(provider.Content))
			}
		}},
	}
}

// slowCases are about the limits.
func slowCases() []oneCase {
	return []oneCase{
		{name: "no first byte", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{FirstByte: short}, Play{End: Hang})
			wantKind(t, listen(s.Provider.Stream(t.Context(), ask(s))), provider.SlowStart)
			s.hungUp(t)
		}},
		{name: "no next chunk", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{Between: short}, Play{Writes: [][]Piece{text("Hel")}, End: Hang})
			got := listen(s.Provider.Stream(t.Context(), ask(s)))
			wantKind(t, got, provider.SlowStart)
			if got.text(provider.Content) != "Hel" {
				t.Errorf("it said %q", got.text(provider.Content))
			}
		}},
		{name: "a slow listener is no slow model", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{Between: 5 * short}, Play{Writes: [][]Piece{text("Hel"), text("lo")}})
			for _, err := range s.Provider.Stream(t.Context(), ask(s)) {
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(6 * short)
			}
		}},
	}
}

// refusalCases are about refusals.
func refusalCases() []oneCase {
	cases := []oneCase{
		{name: "asks to wait for seconds", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{Refuse: &Refusal{Why: TooMany, RetryAfter: "7"}})
			e := wantKind(t, listen(s.Provider.Stream(t.Context(), ask(s))), provider.RateLimited)
			if e.RetryAfter != 7*time.Second || e.Status != http.StatusTooManyRequests || !e.Retryable() {
				t.Errorf("the error is %+v", e)
			}
		}},
		{name: "asks to wait until a date", run: func(t *testing.T, h Harness) {
			at := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
			s := h.Start(t, Config{}, Play{Refuse: &Refusal{Why: TooMany, RetryAfter: at}})
			e := wantKind(t, listen(s.Provider.Stream(t.Context(), ask(s))), provider.RateLimited)
			if e.RetryAfter < 50*time.Minute || e.RetryAfter > time.Hour {
				t.Errorf("it waits for %v", e.RetryAfter)
			}
		}},
		{name: "takes no tools", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{Refuse: &Refusal{Why: NoTools}})
			e := wantKind(t, listen(s.Provider.Stream(t.Context(), withTool(s))), provider.Unsupported)
			if e.Feature != provider.FeatureTools {
				t.Errorf("it lacks %q", e.Feature)
			}
		}},
	}
	for name, c := range map[string]struct {
		why  RefusalWhy
		kind provider.Kind
	}{
		"wrong key":     {BadKey, provider.Unauthorised},
		"unknown model": {NoSuchModel, provider.UnknownModel},
		"status 500":    {Internal, provider.Overloaded},
		"status 503":    {Unavailable, provider.Overloaded},
		"context full":  {TooLong, provider.ContextFull},
	} {
		cases = append(cases, oneCase{name: name, run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{Refuse: &Refusal{Why: c.why}})
			e := wantKind(t, listen(s.Provider.Stream(t.Context(), ask(s))), c.kind)
			if e.Message == "" || e.Address == "" || e.Status == 0 {
				t.Errorf("the error is %+v", e)
			}
		}})
	}
	return cases
}
