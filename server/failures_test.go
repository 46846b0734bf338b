package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/openai"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// failuresScript has one answer for each way in which a provider fails.
const failuresScript = `
responses:
  - {when: limited, error: {kind: rate_limited, status: 429, message: slow down, retry_after: 1500ms}}
  - {when: long wait, error: {kind: rate_limited, status: 429, message: slow down, retry_after: 10m}}
  - {when: fails 500, error: {kind: overloaded, status: 500, message: internal error}}
  - {when: fails 502, error: {kind: overloaded, status: 502, message: bad gateway}}
  - {when: fails 503, error: {kind: overloaded, status: 503, message: try later, retry_after: 2s}}
  - {when: fails 504, error: {kind: overloaded, status: 504, message: gateway timeout}}
  - {when: fails 529, error: {kind: overloaded, status: 529, message: overloaded}}
  - {when: in the stream, error: {kind: overloaded, message: overloaded}}
  - {when: silent, error: {kind: slow_start, message: nothing came}}
  - {when: away, error: {kind: unreachable, message: connection refused}}
  - {when: key, error: {kind: unauthorised, status: 401, message: the key is unknown}}
  - {when: forbidden, error: {kind: unauthorised, status: 403, message: the key may not}}
  - {when: moderated, error: {kind: rejected, status: 403, message: flagged}}
  - {when: refused, error: {kind: rejected, status: 400, message: not like this}}
  - {when: quota, error: {kind: rejected, status: 429, message: insufficient_quota}}
  - {when: too long, error: {kind: context_full, status: 400, message: the prompt is too long}}
  - {when: gone, error: {kind: unknown_model, status: 404, message: there is no such model}}
  - {when: gibberish, error: {kind: undecodable, message: unreadable}}
  - {when: breaks, error: {kind: broken, message: connection reset}}
  - {when: "", text: Hello.}
`

// failing is how one failure reaches the clients of each API. The words are those that the
// API's own servers use: OpenAI's code and type, and Anthropic's type.
type failing struct {
	status               int
	code, kind           string // OpenAI's; a code of null is ""
	anthropic            int    // 0 is status
	anthropicKind        string
	retryAfter, inMillis string
	final                bool // clients of these APIs must not repeat the request by themselves
}

// A failure of a provider has the status of its nature in every API, with that API's own
// words, streamed or not. A provider's own failure is not a limit of the client's, a limit
// keeps the time to wait, and what the server has repeated itself is not repeated by clients.
func TestFailuresOfProvidersInEachAPIsWords(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: failuresScript})
	const m = "script/m.yaml"
	for text, want := range map[string]failing{
		"limited":       {429, "rate_limit_exceeded", "rate_limit_error", 0, "rate_limit_error", "2", "1500", false},
		"long wait":     {429, "rate_limit_exceeded", "rate_limit_error", 0, "rate_limit_error", "600", "600000", true},
		"fails 500":     {502, "server_error", "server_error", 0, "api_error", "", "", true},
		"fails 502":     {502, "server_error", "server_error", 0, "api_error", "", "", true},
		"fails 503":     {503, "server_is_overloaded", "server_error", 529, "overloaded_error", "2", "2000", true},
		"fails 504":     {504, "server_error", "server_error", 0, "timeout_error", "", "", true},
		"fails 529":     {503, "server_is_overloaded", "server_error", 529, "overloaded_error", "", "", true},
		"in the stream": {503, "server_is_overloaded", "server_error", 529, "overloaded_error", "", "", true},
		"silent":        {504, "server_error", "server_error", 0, "timeout_error", "", "", true},
		"away":          {503, "server_error", "server_error", 0, "api_error", "", "", false},
		"breaks":        {502, "server_error", "server_error", 0, "api_error", "", "", true},
		"key":           {401, "invalid_api_key", "invalid_request_error", 0, "authentication_error", "", "", false},
		"forbidden":     {401, "invalid_api_key", "invalid_request_error", 0, "authentication_error", "", "", false},
		"moderated":     {403, "", "permission_error", 0, "permission_error", "", "", false},
		"refused":       {400, "", "invalid_request_error", 0, "invalid_request_error", "", "", false},
		"quota":         {402, "insufficient_quota", "insufficient_quota", 0, "billing_error", "", "", false},
		"too long":      {400, "context_length_exceeded", "invalid_request_error", 0, "invalid_request_error", "", "", false},
		"gone":          {404, "model_not_found", "invalid_request_error", 0, "not_found_error", "", "", false},
		"gibberish":     {424, "", "invalid_request_error", 0, "invalid_request_error", "", "", false},
	} {
		for path, body := range map[string]doc{
			"/v1/chat/completions": asked(m, text, nil),
			"/v1/completions":      {"model": m, "prompt": text},
			"/v1/responses":        {"model": m, "input": text},
			"/v1/messages":         asked(m, text, doc{"max_tokens": 9}),
			"/api/chat":            asked(m, text, nil),
			"/api/generate":        {"model": m, "prompt": text},
			"/aisdk":               {"id": "t-" + text, "messages": []doc{{"id": "0", "role": "user", "parts": []doc{{"type": "text", "text": "q"}}}, {"id": "1", "role": "assistant", "parts": []doc{{"type": "text", "text": "a"}}}, {"id": "2", "role": "user", "parts": []doc{{"type": "text", "text": text}}}}},
			"/agui":                {"threadId": "t-" + text, "runId": "r", "messages": []doc{{"id": "0", "role": "user", "content": "q"}, {"id": "1", "role": "assistant", "content": "a"}, {"id": "2", "role": "user", "content": text}}},
		} {
			for _, stream := range []bool{false, true} {
				body["stream"] = stream
				want.holds(t, path+" "+text, h.call("POST", path, body), m)
			}
		}
	}
}

// holds compares an answer with what the failure has to look like at a path.
func (f failing) holds(t *testing.T, what string, a answer, model string) {
	t.Helper()
	path, _, _ := strings.Cut(what, " ")
	status := f.status
	if path == "/v1/messages" && f.anthropic != 0 {
		status = f.anthropic
	}
	if path == "/aisdk" || path == "/agui" {
		if f.code == "context_length_exceeded" {
			return // their clients have no word for it
		}
	}
	if a.status != status {
		t.Errorf("%s: status %d, want %d: %s", what, a.status, status, a.body)
		return
	}
	final := ""
	if f.final {
		final = "false"
	}
	for name, value := range map[string]string{"Retry-After": f.retryAfter, "Retry-After-Ms": f.inMillis, "X-Should-Retry": final} {
		if got := a.header.Get(name); got != value {
			t.Errorf("%s: %s is %q, want %q", what, name, got, value)
		}
	}
	var body struct {
		Type  string
		Error json.RawMessage
	}
	if path == "/aisdk" {
		return // the message alone
	}
	if err := json.Unmarshal(a.body, &body); err != nil {
		t.Fatalf("%s: %v: %s", what, err, a.body)
	}
	var e struct {
		Message, Type string
		Code          *string
		Param         json.RawMessage
	}
	switch {
	case strings.HasPrefix(path, "/api/"):
		var said string
		if err := json.Unmarshal(body.Error, &said); err != nil || said == "" {
			t.Errorf("%s: the error is %s", what, body.Error)
		}
		if status == http.StatusNotFound && !strings.HasPrefix(said, `model "`+model+`" not found`) {
			t.Errorf("%s: %q", what, said)
		}
		return
	case json.Unmarshal(body.Error, &e) != nil || e.Message == "":
		t.Fatalf("%s: %s", what, a.body)
	case path == "/v1/messages":
		if body.Type != "error" || e.Type != f.anthropicKind {
			t.Errorf("%s: %s, want %s", what, a.body, f.anthropicKind)
		}
		return
	case path == "/agui":
		return
	}
	code := ""
	if e.Code != nil {
		code = *e.Code
	}
	param := "null"
	if f.code == "model_not_found" {
		param = `"model"`
	}
	if code != f.code || e.Code != nil && code == "" || e.Type != f.kind || string(e.Param) != param {
		t.Errorf("%s: %s, want code %q of type %s and param %s", what, a.body, f.code, f.kind, param)
	}
}

// What is wrong with a request itself has each API's words too, before a provider is asked.
func TestFaultsOfRequestsInEachAPIsWords(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: failuresScript})
	token := failing{401, "invalid_api_key", "invalid_request_error", 0, "authentication_error", "", "", false}
	unknown := failing{404, "model_not_found", "invalid_request_error", 0, "not_found_error", "", "", false}
	broken := failing{400, "", "invalid_request_error", 0, "invalid_request_error", "", "", false}
	paths := map[string]func(model string) doc{
		"/v1/chat/completions":      func(m string) doc { return asked(m, "hi", nil) },
		"/v1/completions":           func(m string) doc { return doc{"model": m, "prompt": "hi"} },
		"/v1/embeddings":            func(m string) doc { return doc{"model": m, "input": "hi"} },
		"/v1/responses":             func(m string) doc { return doc{"model": m, "input": "hi"} },
		"/v1/messages":              func(m string) doc { return asked(m, "hi", doc{"max_tokens": 9}) },
		"/v1/messages/count_tokens": func(m string) doc { return asked(m, "hi", nil) },
		"/api/chat":                 func(m string) doc { return asked(m, "hi", nil) },
		"/api/generate":             func(m string) doc { return doc{"model": m, "prompt": "hi"} },
		"/api/embed":                func(m string) doc { return doc{"model": m, "input": "hi"} },
		"/api/show":                 func(m string) doc { return doc{"model": m} },
	}
	for path, body := range paths {
		at := path
		if path == "/v1/messages/count_tokens" {
			at = "/v1/messages"
		}
		// A name that nothing has: whole, short, and of a provider that is not there.
		for _, model := range []string{"script/none.yaml", "gpt-none", "nothing/none"} {
			unknown.holds(t, at+" of "+path+" "+model, h.call("POST", path, body(model)), model)
		}
		for _, stream := range []bool{false, true} {
			all := body("gpt-none")
			all["stream"] = stream
			unknown.holds(t, at+" of "+path, h.call("POST", path, all), "gpt-none")
		}
		broken.holds(t, at+" of "+path+" with half a body", h.call("POST", path, `{"model":`), "")
		token.holds(t, at+" of "+path+" with a wrong token", h.call("POST", path, body("script/m.yaml"), "Authorization", "Bearer "+strings.Repeat("x", 43)), "")
		token.holds(t, at+" of "+path+" without a token", h.call("POST", path, body("script/m.yaml"), "Authorization", ""), "")
	}
	for _, path := range []string{"/v1/chat/completions", "/v1/responses", "/v1/messages", "/api/chat"} {
		body := paths[path]("fettle/nobody")
		unknown.holds(t, path+" of an agent", h.call("POST", path, body), "fettle/nobody")
	}
	// The list of models is at one path for the clients of two APIs.
	token.holds(t, "/v1/messages by models", h.call("GET", "/v1/models", nil, "Authorization", "", "Anthropic-Version", "2023-06-01"), "")
	unknown.holds(t, "/v1/messages by models", h.call("GET", "/v1/models/none", nil, "Anthropic-Version", "2023-06-01"), "none")
	unknown.holds(t, "/v1/chat/completions by models", h.call("GET", "/v1/models/none", nil), "none")
}

// A provider without a key fails every request in the same way, so that the official clients
// are told not to repeat it, over each API.
func TestAMissingKeyIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	h := open(t, plan{providers: map[string]func() (provider.Provider, error){"keyless": func() (provider.Provider, error) {
		return openai.New(openai.Options{Options: wire.Options{Name: "keyless", BaseURL: "http://127.0.0.1:1/v1", Key: func(context.Context) (string, error) {
			return "", fault.New(fault.Unauthorised, "no key for keyless")
		}}})
	}}})
	const m = "keyless/m"
	for path, body := range map[string]doc{
		"/v1/chat/completions": asked(m, "hi", nil),
		"/v1/completions":      {"model": m, "prompt": "hi"},
		"/v1/embeddings":       {"model": m, "input": "hi"},
		"/v1/responses":        {"model": m, "input": "hi"},
		"/v1/messages":         asked(m, "hi", doc{"max_tokens": 9}),
		"/api/chat":            asked(m, "hi", nil),
		"/api/generate":        {"model": m, "prompt": "hi"},
		"/api/embed":           {"model": m, "input": "hi"},
	} {
		for _, stream := range []bool{false, true} {
			if body["stream"] = stream; stream && strings.Contains(path, "embed") {
				continue
			}
			got := h.call("POST", path, body)
			if got.status < 400 || got.status >= 500 && got.header.Get("X-Should-Retry") != "false" || !strings.Contains(string(got.body), "no key for keyless") {
				t.Errorf("%s, stream %v: status %d, X-Should-Retry %q: %s", path, stream, got.status, got.header.Get("X-Should-Retry"), got.body)
			}
		}
	}
}
