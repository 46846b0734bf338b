package mistral

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// refusals are the bodies of refused requests, in the forms that were met.
var refusals = map[string]struct {
	status  int
	body    string
	kind    provider.Kind
	feature provider.Feature
	message string
}{
	"a detail":  {401, `{"detail":"Unauthorized"}`, provider.Unauthorised, "", "Unauthorized"},
	"a gateway": {401, `{"message":"Unauthorized","request_id":"1b9b2b5d4a0d2c53a5c7e24a5e3b8d1f"}`, provider.Unauthorised, "", "Unauthorized"},
	"faults in the detail": {422, `{"detail":[{"type":"extra_forbidden","loc":["body","store"],"msg":"Extra inputs are not permitted","input":false},{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted","input":8192}]}`,
		provider.Rejected, "", "store: Extra inputs are not permitted; max_completion_tokens: Extra inputs are not permitted"},
	"faults in the message": {422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","messages",0,"user","name"],"msg":"Extra inputs are not permitted","input":""}]},"type":"invalid_request_error","param":null,"code":null}`,
		provider.Rejected, "", "messages.0.user.name: Extra inputs are not permitted"},
	"faults in both": {422, `{"object":"Error","detail":[{"loc":["body","tools"],"msg":"Extra inputs are not permitted"}],"message":[{"loc":["body","tools"],"msg":"Extra inputs are not permitted"}],"type":"invalid_request_error","code":3001}`,
		provider.Rejected, "", "tools: Extra inputs are not permitted"},
	"faults in a text": {422, `{"object":"error","message":"{\"detail\":[{\"type\":\"extra_forbidden\",\"loc\":[\"body\",\"frequency_penalty\"],\"msg\":\"Extra inputs are not permitted\",\"input\":0.0}]}","type":"internal_error_proxy","param":null,"code":"1000"}`,
		provider.Rejected, "", "frequency_penalty: Extra inputs are not permitted"},
	"many faults":           {422, `{"detail":[{"msg":"a"},{"loc":[],"msg":"b"},{"loc":["body"],"msg":"c"},{"loc":["body","d"],"msg":"d"}]}`, provider.Rejected, "", "a; b; c"},
	"faults without words":  {422, `{"detail":[{"loc":["body"]},{}]}`, provider.Rejected, "", `{"detail":[{"loc":["body"]},{}]}`},
	"a model":               {400, errorBody("invalid_model", "1500", "Invalid model: mistral-huge"), provider.UnknownModel, "", "Invalid model: mistral-huge"},
	"the order of messages": {400, errorBody("invalid_request_message_order", "3230", "Unexpected role 'user' after role 'tool'"), provider.Rejected, "", "Unexpected role 'user' after role 'tool'"},
	"length": {400, errorBody("invalid_request_invalid_args", "3051", "Prompt contains 213462 tokens and 0 draft tokens, too large for model with 131072 maximum context length"),
		provider.ContextFull, "", "Prompt contains 213462 tokens and 0 draft tokens, too large for model with 131072 maximum context length"},
	"images":             {400, errorBody("invalid_request_invalid_args", "3051", "Image input is not enabled for this model"), provider.Unsupported, provider.FeatureImages, "Image input is not enabled for this model"},
	"tools":              {400, errorBody("invalid_request_error", "3000", "Function calling is not enabled for this model"), provider.Unsupported, provider.FeatureTools, "Function calling is not enabled for this model"},
	"a rate":             {429, errorBody("rate_limited", "1300", "Rate limit exceeded"), provider.RateLimited, "", "Rate limit exceeded"},
	"capacity":           {429, errorBody("service_tier_capacity_exceeded", "3505", "Service tier capacity exceeded for this model."), provider.RateLimited, "", "Service tier capacity exceeded for this model."},
	"no capacity at all": {503, errorBody("service_tier_capacity_exceeded", "3505", "Service tier capacity exceeded for this model."), provider.Overloaded, "", "Service tier capacity exceeded for this model."},
	"a fault of theirs":  {500, errorBody("internal_server_error", "1000", "Internal server error"), provider.Overloaded, "", "Internal server error"},
	"overload":           {529, `{"message":"Overloaded"}`, provider.Overloaded, "", "Overloaded"},
	"a web page":         {502, "<html><head><title>502 Bad Gateway</title></head></html>", provider.Overloaded, "", "a web page: 502 Bad Gateway"},
	"nothing":            {503, "", provider.Overloaded, "", "Service Unavailable"},
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range refusals {
		src := wire.Source{Provider: "mistral", Model: "m", Asked: []provider.Feature{provider.FeatureTools, provider.FeatureImages}}
		e := refused(src, &http.Response{StatusCode: c.status, Header: http.Header{"Retry-After": {"7"}}}, []byte(c.body))
		if e.Kind != c.kind || e.Feature != c.feature || e.Message != c.message || e.Status != c.status || e.RetryAfter != 7*time.Second {
			t.Errorf("%s is %+v", name, e)
		}
	}
}

func TestWhenToAskAgain(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, c := range map[string]struct {
		status   int
		headers  map[string]string
		kind     provider.Kind
		min, max time.Duration
	}{
		"seconds":          {429, map[string]string{"Retry-After": "12"}, provider.RateLimited, 12 * time.Second, 12 * time.Second},
		"a date":           {429, map[string]string{"Retry-After": now.Add(time.Hour).UTC().Format(http.TimeFormat)}, provider.RateLimited, 30 * time.Minute, time.Hour},
		"a reset":          {429, map[string]string{"Ratelimitbysize-Reset": "24"}, provider.RateLimited, 24 * time.Second, 24 * time.Second},
		"another reset":    {429, map[string]string{"X-Ratelimit-Reset": "31.5"}, provider.RateLimited, 31500 * time.Millisecond, 31500 * time.Millisecond},
		"a reset in years": {429, map[string]string{"Ratelimitbysize-Reset": "9e8"}, provider.RateLimited, 24 * time.Hour, 24 * time.Hour},
		"both":             {429, map[string]string{"Retry-After": "3", "Ratelimitbysize-Reset": "24"}, provider.RateLimited, 3 * time.Second, 3 * time.Second},
		"nonsense":         {429, map[string]string{"Retry-After": "soon", "Ratelimitbysize-Reset": "-1"}, provider.RateLimited, 0, 0},
		"nothing":          {429, nil, provider.RateLimited, 0, 0},
		"overloaded":       {529, map[string]string{"Retry-After": "5"}, provider.Overloaded, 5 * time.Second, 5 * time.Second},
		"a key":            {401, map[string]string{"Ratelimitbysize-Reset": "24"}, provider.Unauthorised, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := serve(t, Options{}, func(w http.ResponseWriter, _ string) {
				for k, v := range c.headers {
					w.Header().Set(k, v)
				}
				refuse(w, c.status, errorBody("some_error", "1", "not now"))
			})
			h := providertest.Listen(t.Context(), p, short("m"))
			var e *provider.Error
			if !errors.As(h.Err, &e) || e.Kind != c.kind || e.Status != c.status || e.RetryAfter < c.min || e.RetryAfter > c.max {
				t.Errorf("it ended with %+v, %v", e, h.Err)
			}
		})
	}
}

func TestErrorsInAStream(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		event  string
		kind   provider.Kind
		status int
	}{
		"with its status":     {`{"object":"error","message":"no","type":"x","code":"1","raw_status_code":503}`, provider.Overloaded, 503},
		"a key that ran out":  {`{"object":"error","message":"no","type":"x","code":"1","raw_status_code":"401"}`, provider.Unauthorised, 401},
		"a rate":              {errorBody("rate_limited", "1300", "Rate limit exceeded"), provider.RateLimited, 0},
		"capacity":            {errorBody("service_tier_capacity_exceeded", "3505", "Service tier capacity exceeded for this model."), provider.RateLimited, 0},
		"a fault of theirs":   {errorBody("internal_server_error", "1000", "oh"), provider.Overloaded, 0},
		"a fault of nobody":   {errorBody("banana", "1", "oh"), provider.Broken, 0},
		"a finish reason":     {`{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}`, provider.Broken, 0},
		"faults of a request": {`{"detail":[{"loc":["body","tools"],"msg":"no"}],"message":"x"}`, provider.Rejected, 0},
	} {
		p, _ := serve(t, Options{}, func(w http.ResponseWriter, _ string) {
			fmt.Fprint(w, sendsDelta(obj{"content": "Hi"}, "")+"data: "+c.event+"\n\n")
		})
		h := providertest.Listen(t.Context(), p, short("m"))
		var e *provider.Error
		if h.Text != "Hi" || !errors.As(h.Err, &e) || e.Kind != c.kind || e.Status != c.status {
			t.Errorf("%s: it said %q and ended with %+v", name, h.Text, h.Err)
		}
	}
}

func TestBrokenStreamsAreErrors(t *testing.T) {
	t.Parallel()
	calls := func(n int) string {
		var list []any
		for i := range n {
			list = append(list, obj{"index": i, "id": fmt.Sprint(i), "function": obj{"name": "a", "arguments": "{}"}})
		}
		return sendsDelta(obj{"tool_calls": list}, "tool_calls")
	}
	for name, stream := range map[string]string{
		"calls without end":     calls(wire.MaxCalls + 1),
		"a content of numbers":  sendsDelta(obj{"content": 7}, ""),
		"choices that are none": sends(obj{"choices": "none"}),
		"thinking of an object": sendsDelta(obj{"content": []any{obj{"type": "thinking", "thinking": obj{}}}}, ""),
	} {
		p, _ := serve(t, Options{}, func(w http.ResponseWriter, _ string) { fmt.Fprint(w, stream) })
		h := providertest.Listen(t.Context(), p, short("m"))
		var e *provider.Error
		if !errors.As(h.Err, &e) || e.Kind != provider.Undecodable || len(h.Calls) > 0 {
			t.Errorf("%s: it ended with %v", name, h.Err)
		}
	}
}

func TestKeysAndHeaders(t *testing.T) {
	t.Parallel()
	var seen http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Clone()
		refuse(w, 401, errorBody("unauthorized", "1", "bad key "+r.Header.Get("Authorization")+" and "+r.Header.Get("X-Proxy-Key")))
	}))
	defer srv.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	key, failed := " my-own-key-0123 \n", error(nil)
	p, err := New(Options{Options: wire.Options{
		Name: "lab", BaseURL: srv.URL + "/proxy", Client: &http.Client{Transport: transport},
		Key:     func(context.Context) (string, error) { return key, failed },
		Headers: map[string]string{"X-Proxy-Key": "another-secret-4567"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	h := providertest.Listen(t.Context(), p, short("m"))
	if seen.Get("Authorization") != "Bearer my-own-key-0123" || seen.Get("X-Proxy-Key") != "another-secret-4567" || seen.Get("Accept") != "text/event-stream" {
		t.Errorf("it sent %v", seen)
	}
	var e *provider.Error
	if !errors.As(h.Err, &e) || e.Kind != provider.Unauthorised || e.Message != "bad key Bearer [key] and [key]" || e.Provider != "lab" {
		t.Errorf("it ended with %+v", h.Err)
	}
	key, failed = "", errors.New("MISTRAL_API_KEY is not set")
	if h = providertest.Listen(t.Context(), p, short("m")); !errors.As(h.Err, &e) || e.Kind != provider.Unauthorised || e.Message != "MISTRAL_API_KEY is not set" {
		t.Errorf("without a key it ended with %v", h.Err)
	}
	failed = nil
	if _ = providertest.Listen(t.Context(), p, short("m")); seen.Get("Authorization") != "" {
		t.Errorf("without a key it sent %v", seen)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"": "https://api.mistral.ai/v1", "http://localhost:8000": "http://localhost:8000/v1", "http://localhost:8000/": "http://localhost:8000/v1",
		"https://x/mistral": "https://x/mistral", "https://x/v1/": "https://x/v1/",
	} {
		p, err := New(Options{Options: wire.Options{BaseURL: base}})
		if err != nil || p.Base.String() != want {
			t.Errorf("%q: %v, %v", base, p, err)
		}
	}
	for _, base := range []string{"localhost:8000", "ftp://x", "http://", "://", "/v1"} {
		if _, err := New(Options{Options: wire.Options{BaseURL: base}}); err == nil {
			t.Errorf("%q was taken", base)
		}
	}
	p, err := New(Options{Options: wire.Options{BaseURL: "https://me:pw@x:8/v1?a=b"}})
	if err != nil || p.Address() != "https://x:8" || p.Name() != "mistral" {
		t.Errorf("it shows %q, %v", p.Address(), err)
	}
}
