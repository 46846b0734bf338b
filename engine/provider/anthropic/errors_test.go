package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

func TestWhenToAskAgain(t *testing.T) {
	t.Parallel()
	now := time.Now()
	const soon, hour = 30 * time.Minute, time.Hour + time.Minute // a slow machine makes it less
	at := func(d time.Duration) string { return now.Add(d).UTC().Format(time.RFC3339) }
	for name, c := range map[string]struct {
		status   int
		headers  map[string]string
		kind     provider.Kind
		min, max time.Duration
	}{
		"seconds":      {429, map[string]string{"Retry-After": "12"}, provider.RateLimited, 12 * time.Second, 12 * time.Second},
		"milliseconds": {429, map[string]string{"Retry-After-Ms": "1500"}, provider.RateLimited, 1500 * time.Millisecond, 1500 * time.Millisecond},
		"a date":       {429, map[string]string{"Retry-After": now.Add(time.Hour).UTC().Format(http.TimeFormat)}, provider.RateLimited, soon, hour},
		"a reset":      {429, map[string]string{"Anthropic-Ratelimit-Requests-Reset": at(time.Hour)}, provider.RateLimited, soon, hour},
		"the reset of what is used up": {429, map[string]string{
			"Anthropic-Ratelimit-Requests-Reset": at(10 * time.Minute), "Anthropic-Ratelimit-Requests-Remaining": "40",
			"Anthropic-Ratelimit-Input-Tokens-Reset": at(time.Hour), "Anthropic-Ratelimit-Input-Tokens-Remaining": "0",
			"Anthropic-Ratelimit-Output-Tokens-Reset": at(9 * time.Hour), "Anthropic-Ratelimit-Output-Tokens-Remaining": "100",
		}, provider.RateLimited, soon, hour},
		"the first reset":      {429, map[string]string{"Anthropic-Ratelimit-Tokens-Reset": at(5 * time.Hour), "Anthropic-Ratelimit-Requests-Reset": at(time.Hour)}, provider.RateLimited, soon, hour},
		"a reset that is over": {429, map[string]string{"Anthropic-Ratelimit-Requests-Reset": at(-time.Minute)}, provider.RateLimited, 0, 0},
		"a reset in years":     {429, map[string]string{"Anthropic-Ratelimit-Requests-Reset": at(9999 * time.Hour)}, provider.RateLimited, 24 * time.Hour, 24 * time.Hour},
		"nonsense":             {429, map[string]string{"Retry-After": "soon", "Anthropic-Ratelimit-Requests-Reset": "later"}, provider.RateLimited, 0, 0},
		"nothing":              {429, nil, provider.RateLimited, 0, 0},
		"Retry-After wins":     {429, map[string]string{"Retry-After": "3", "Anthropic-Ratelimit-Requests-Reset": at(time.Hour)}, provider.RateLimited, 3 * time.Second, 3 * time.Second},
		"no use":               {429, map[string]string{"X-Should-Retry": "false"}, provider.Rejected, 0, 0},
		"overloaded":           {529, map[string]string{"Retry-After": "5", "X-Should-Retry": "true"}, provider.Overloaded, 5 * time.Second, 5 * time.Second},
		"timeout":              {504, nil, provider.Overloaded, 0, 0},
		"a key":                {401, map[string]string{"Anthropic-Ratelimit-Requests-Reset": at(time.Minute)}, provider.Unauthorised, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := serve(t, Options{}, func(w http.ResponseWriter, _ string) {
				for k, v := range c.headers {
					w.Header().Set(k, v)
				}
				refuse(w, c.status, "some_error", "not now")
			})
			h := providertest.Listen(t.Context(), p, short("claude-opus-5-5"))
			var e *provider.Error
			if !errors.As(h.Err, &e) || e.Kind != c.kind || e.Status != c.status || e.RetryAfter < c.min || e.RetryAfter > c.max {
				t.Errorf("it ended with %+v, %v", e, h.Err)
			}
		})
	}
}

// Each documented error, as an answer and in a stream.
func TestErrorTypes(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct {
		status  int
		message string
		want    provider.Kind
	}{
		"invalid_request_error": {400, "messages: at least one message is required", provider.Rejected},
		"authentication_error":  {401, "invalid x-api-key", provider.Unauthorised},
		"billing_error":         {402, "Your credit balance is too low to access the Anthropic API.", provider.Rejected},
		"permission_error":      {403, "Your API key does not have permission to use the specified resource.", provider.Unauthorised},
		"not_found_error":       {404, "model: claude-9", provider.UnknownModel},
		"request_too_large":     {413, "Request exceeds the maximum size", provider.ContextFull},
		"rate_limit_error":      {429, "Number of request tokens has exceeded your per-minute rate limit", provider.RateLimited},
		"api_error":             {500, "Internal server error", provider.Overloaded},
		"timeout_error":         {504, "Request timed out", provider.Overloaded},
		"overloaded_error":      {529, "Overloaded", provider.Overloaded},
	} {
		body := errorBody(kind, c.message)
		src := wire.Source{Provider: "anthropic", Model: "m"}
		e := refused(src, &http.Response{StatusCode: c.status, Header: http.Header{}}, []byte(body))
		if e.Kind != c.want || e.Message != c.message || e.Status != c.status {
			t.Errorf("%s as an answer is %+v", kind, e)
		}
		e = inStream(src, []byte(body))
		if e.Kind != c.want || e.Message != c.message || e.Status != c.status {
			t.Errorf("%s in a stream is %+v", kind, e)
		}
	}
}

func TestKeysAndHeaders(t *testing.T) {
	t.Parallel()
	var seen http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Clone()
		refuse(w, 401, "authentication_error", "bad key "+r.Header.Get("X-Api-Key")+" and "+r.Header.Get("Authorization"))
	}))
	defer srv.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	p, err := New(Options{
		Name: "lab", BaseURL: srv.URL + "/anthropic", Client: &http.Client{Transport: transport},
		Key:     func(context.Context) (string, error) { return " my-own-key-0123 \n", nil },
		Headers: map[string]string{"Authorization": "Bearer another-secret-4567", "Anthropic-Beta": "x-2026-01-01"},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := providertest.Listen(t.Context(), p, short("m"))
	if seen.Get("X-Api-Key") != "my-own-key-0123" || seen.Get("Authorization") != "Bearer another-secret-4567" ||
		seen.Get("Anthropic-Version") != version || seen.Get("Anthropic-Beta") != "x-2026-01-01" {
		t.Errorf("it sent %v", seen)
	}
	var e *provider.Error
	if !errors.As(h.Err, &e) || e.Kind != provider.Unauthorised || e.Message != "bad key [key] and [key]" || e.Provider != "lab" {
		t.Errorf("it ended with %+v", h.Err)
	}
	p.Options.Key = func(context.Context) (string, error) { return "", errors.New("ANTHROPIC_API_KEY is not set") }
	if h = providertest.Listen(t.Context(), p, short("m")); !errors.As(h.Err, &e) || e.Kind != provider.Unauthorised || e.Message != "ANTHROPIC_API_KEY is not set" {
		t.Errorf("without a key it ended with %v", h.Err)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"": "https://api.anthropic.com/v1", "http://localhost:11434": "http://localhost:11434/v1", "http://localhost:11434/": "http://localhost:11434/v1",
		"https://api.deepseek.com/anthropic": "https://api.deepseek.com/anthropic/v1", "https://x/v1": "https://x/v1", "https://x/v1/": "https://x/v1/",
	} {
		p, err := New(Options{BaseURL: base})
		if err != nil || p.Base.String() != want {
			t.Errorf("%q: %v, %v", base, p, err)
		}
	}
	for _, base := range []string{"localhost:8000", "ftp://x", "http://", "://", "/v1"} {
		if _, err := New(Options{BaseURL: base}); err == nil {
			t.Errorf("%q was taken", base)
		}
	}
	p, err := New(Options{BaseURL: "https://me:pw@x:8/anthropic?a=b"})
	if err != nil || p.Address() != "https://x:8" || p.Name() != "anthropic" {
		t.Errorf("it shows %q, %v", p.Address(), err)
	}
}

func TestBrokenStreamsAreErrors(t *testing.T) {
	t.Parallel()
	for name, stream := range map[string]string{
		"calls without end": strings.Repeat(sendsBlock(0, obj{"type": "tool_use", "id": "1", "name": "a", "input": obj{}}), wire.MaxCalls+1),
		"blocks without end": func() (out string) {
			for i := range maxOpen + 1 {
				out += sends("content_block_start", obj{"index": i, "content_block": obj{"type": "text", "text": ""}})
			}
			return out
		}(),
		"text that is none":     sends("content_block_delta", obj{"index": 0, "delta": obj{"type": "text_delta", "text": obj{}}}),
		"thinking of no string": sends("content_block_start", obj{"index": 0, "content_block": []int{1}}),
	} {
		p, _ := serve(t, Options{}, func(w http.ResponseWriter, _ string) { fmt.Fprint(w, stream) })
		h := providertest.Listen(t.Context(), p, short("m"))
		var e *provider.Error
		if !errors.As(h.Err, &e) || e.Kind != provider.Undecodable || len(h.Calls) > 0 {
			t.Errorf("%s: it ended with %v", name, h.Err)
		}
	}
}

// A model that thinks is waited for, unless a limit was set.
func TestLimits(t *testing.T) {
	t.Parallel()
	for model, patient := range map[string]bool{"claude-opus-5-5": true, "claude-sonnet-5": true, "claude-opus-4-8": false, "m": false} {
		b, err := encode(short(model), quirks{}, adaption{})
		if err != nil {
			t.Fatal(err)
		}
		if got := limits(Options{}, b).Between == wire.DefaultFirst; got != patient {
			t.Errorf("%s: patient is %v", model, got)
		}
		if got := limits(Options{Between: time.Second}, b).Between; got != time.Second {
			t.Errorf("%s: with a limit of a second it waits %v", model, got)
		}
	}
}
