package providertest

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
)

// httpCases are about servers that misbehave below the wire format.
func httpCases() []oneCase {
	return append(append(waitCases(), statusCases()...), hostileCases()...)
}

// waitCases are the forms in which a 429 asks to be asked again.
func waitCases() []oneCase {
	var cases []oneCase
	later := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	for name, c := range map[string]struct {
		header map[string]string
		least  time.Duration
		most   time.Duration
	}{
		"in milliseconds":            {map[string]string{"Retry-After-Ms": "1500"}, 1500 * time.Millisecond, 1500 * time.Millisecond},
		"by x-ratelimit headers":     {map[string]string{"X-Ratelimit-Reset-Tokens": "6m0s", "X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Requests": "1s", "X-Ratelimit-Remaining-Requests": "9"}, 6 * time.Minute, 6 * time.Minute},
		"by anthropic-ratelimit":     {map[string]string{"Anthropic-Ratelimit-Tokens-Reset": later(time.Hour), "Anthropic-Ratelimit-Tokens-Remaining": "0"}, 50 * time.Minute, time.Hour},
		"by a time since 1970":       {map[string]string{"X-Ratelimit-Reset": strconv.FormatInt(time.Now().Add(time.Hour).UnixMilli(), 10)}, 50 * time.Minute, time.Hour},
		"and means nothing":          {map[string]string{"Retry-After": "soon", "X-Ratelimit-Reset-Tokens": "later"}, 0, 0},
		"in words of its body alone": {nil, 0, 0},
	} {
		cases = append(cases, oneCase{name: "asks to wait " + name, run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{Refuse: &Refusal{Why: TooMany, Header: c.header}})
			e := wantKind(t, listen(s.Provider.Stream(t.Context(), ask(s))), provider.RateLimited)
			if e.RetryAfter < c.least || e.RetryAfter > c.most || !e.Retryable() {
				t.Errorf("it waits for %v, want %v to %v", e.RetryAfter, c.least, c.most)
			}
		}})
	}
	return append(cases, oneCase{name: "asks never to be asked again", run: func(t *testing.T, h Harness) {
		s := h.Start(t, Config{}, Play{Refuse: &Refusal{Why: TooMany, Header: map[string]string{"X-Should-Retry": "false"}}})
		wantKind(t, listen(s.Provider.Stream(t.Context(), ask(s))), provider.Rejected)
	}})
}

// statusCases are statuses that another try may mend, and those that it won't.
func statusCases() []oneCase {
	var cases []oneCase
	for status, c := range map[int]struct {
		why  RefusalWhy
		kind provider.Kind
	}{
		403: {BadKey, provider.Unauthorised}, 408: {Internal, provider.Overloaded}, 409: {Internal, provider.Overloaded},
		502: {Unavailable, provider.Overloaded}, 504: {Unavailable, provider.Overloaded}, 529: {Internal, provider.Overloaded},
	} {
		cases = append(cases, oneCase{name: "status " + strconv.Itoa(status), run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{Refuse: &Refusal{Why: c.why, Status: status, RetryAfter: "2"}})
			e := wantKind(t, listen(s.Provider.Stream(t.Context(), ask(s))), c.kind)
			if e.Status != status || e.Retryable() != (c.kind == provider.Overloaded) || e.RetryAfter != 2*time.Second {
				t.Errorf("the error is %+v", e)
			}
		}})
	}
	return cases
}

// hostileCases are servers that no documentation describes.
func hostileCases() []oneCase {
	const page = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>\x1b[2J</body></html>"
	fails := func(name string, p HTTPPlay, kinds ...provider.Kind) oneCase {
		return oneCase{name: name, run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{HTTP: &p})
			got := listen(s.Provider.Stream(t.Context(), ask(s)))
			var e *provider.Error
			if errors.As(got.err, &e) && len(kinds) > 1 && e.Kind == kinds[1] {
				kinds = kinds[1:]
			}
			wantKind(t, got, kinds[0])
		}}
	}
	return []oneCase{
		fails("a web page with status 200", HTTPPlay{Body: page, ContentType: "text/html; charset=utf-8"}, provider.Undecodable),
		fails("an error with status 200", HTTPPlay{Body: `{"error":{"type":"rate_limit_error","message":"rate limit reached"}}` + "\n", ContentType: "application/json"}, provider.RateLimited),
		fails("nothing with status 200", HTTPPlay{ContentType: "text/event-stream"}, provider.Broken),
		fails("a line without end", HTTPPlay{Body: "data: " + strings.Repeat("x", 17<<20), ContentType: "text/event-stream"}, provider.Undecodable),
		fails("a head without end", HTTPPlay{Header: map[string]string{"X-Long": strings.Repeat("x", 128<<10)}}, provider.Undecodable),
		fails("what is no gzip", HTTPPlay{Header: map[string]string{"Content-Encoding": "gzip"}, Body: "plain", ContentType: "text/event-stream"}, provider.Undecodable, provider.Broken),
		{name: "gzip that nobody asked for", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{Writes: [][]Piece{text("Hel"), text("lo")}, HTTP: &HTTPPlay{Gzip: true}})
			if got := ok(t, s, ask(s)); got.text(provider.Content) != "Hello" {
				t.Errorf("it said %q", got.text(provider.Content))
			}
		}},
		{name: "no redirect takes the key along", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{HTTP: &HTTPPlay{Redirect: true}})
			e := wantKind(t, listen(s.Provider.Stream(t.Context(), ask(s))), provider.Rejected)
			if astray := s.Strayed(); len(astray) > 0 || !strings.Contains(e.Message, "redirects to http://") {
				t.Errorf("%d requests went astray; the error is %q", len(astray), e.Message)
			}
		}},
		{name: "a connection that stays open after the end", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{Between: time.Hour, FirstByte: time.Hour}, Play{Writes: [][]Piece{text("Hello")}, End: Linger})
			if got := ok(t, s, ask(s)); got.text(provider.Content) != "Hello" {
				t.Errorf("it said %q", got.text(provider.Content))
			}
			s.hungUp(t)
		}},
		{name: "signs of life are no answer", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{Between: 2 * short, FirstByte: 2 * short}, Play{Writes: [][]Piece{text("Hel")}, HTTP: &HTTPPlay{Drip: true}})
			got := listen(s.Provider.Stream(t.Context(), ask(s)))
			wantKind(t, got, provider.SlowStart)
			s.hungUp(t)
		}},
		{name: "errors with secrets and control characters", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{HTTP: &HTTPPlay{
				Body: `{"error":"no \u001b[31m` + Key + `\n\u202e for you"}` + "\n", ContentType: "application/json", Header: map[string]string{"X-Key": Key},
			}})
			got := listen(s.Provider.Stream(t.Context(), ask(s)))
			var e *provider.Error
			if !errors.As(got.err, &e) || strings.Contains(e.Error(), Key) || strings.ContainsAny(e.Error(), "\x1b\n\u202e") {
				t.Errorf("the error is %+q", got.err)
			}
		}},
	}
}
