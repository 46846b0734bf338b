package wire

import (
	"encoding/json"
	"html"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
)

// problem is what a server says about a failure, whatever its form.
type problem struct {
	status  int
	code    string
	kind    string // its "type"
	param   string
	message string
}

// text is everything that may name the reason, in lower case.
func (p problem) text() string {
	return strings.ToLower(p.code + " " + p.kind + " " + p.param + " " + p.message)
}

// readProblem reads an error body: OpenAI's object, a bare string, FastAPI's
// detail, a list of one, a page of HTML, or plain words.
func readProblem(body []byte) problem {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var obj map[string]json.RawMessage
	if json.Unmarshal(body, &obj) != nil {
		var words string
		if json.Unmarshal(body, &words) == nil {
			return problem{message: words}
		}
		return problem{message: plain(string(body))}
	}
	var p problem
	p.take(obj)
	var inner map[string]json.RawMessage
	if raw := obj["error"]; json.Unmarshal(raw, &inner) == nil && inner != nil {
		p.take(inner)
	} else if w := words(raw); w != "" {
		p.message = w
	}
	return p
}

// take reads the fields of an error object; later ones win.
func (p *problem) take(obj map[string]json.RawMessage) {
	for _, key := range []string{"message", "detail", "msg", "reason"} {
		if w := words(obj[key]); w != "" {
			p.message = w
			break
		}
	}
	for key, to := range map[string]*string{"code": &p.code, "type": &p.kind, "param": &p.param} {
		if w := words(obj[key]); w != "" {
			*to = w
		}
	}
	if n, err := strconv.Atoi(p.code); err == nil && n >= 400 && n < 600 {
		p.status = n
	}
	var meta struct {
		Raw json.RawMessage `json:"raw"`
	}
	if json.Unmarshal(obj["metadata"], &meta) == nil { // OpenRouter passes on what its provider said
		if w := words(meta.Raw); w != "" {
			p.message += ": " + readProblem([]byte(w)).message
		}
	}
}

// words gives a field as text: a string, a number, or the first entry of a
// list of objects that have a msg.
func words(raw json.RawMessage) string {
	var s string
	var list []struct {
		Msg string `json:"msg"`
	}
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case json.Unmarshal(raw, &s) == nil:
		return s
	case json.Unmarshal(raw, &list) == nil:
		if len(list) > 0 {
			return list[0].Msg
		}
		return ""
	case raw[0] == '{' || raw[0] == '[':
		return ""
	}
	return string(raw)
}

// plain gives the words of a body that is no JSON.
func plain(body string) string {
	low := strings.ToLower(body)
	if !strings.Contains(low, "<html") && !strings.Contains(low, "<!doctype") {
		return body
	}
	if a := strings.Index(low, "<title>"); a >= 0 {
		if b := strings.Index(low[a:], "</title>"); b >= 0 && len(low) == len(body) {
			return "a web page: " + html.UnescapeString(body[a+len("<title>"):a+b])
		}
	}
	return "a web page"
}

// judge turns a problem into an error of the right kind.
func (s Source) judge(p problem) *provider.Error {
	e := s.Error(provider.Rejected, p.message, nil)
	e.Status = p.status
	text := p.text()
	switch {
	case hasAny(text, "insufficient_quota", "billing_hard_limit", "exceeded your current quota"):
		return e // a 429 that no wait mends
	case p.status == 413 || contextFull(text):
		e.Kind = provider.ContextFull
		return e
	case p.status == 401 || p.status == 403:
		e.Kind = provider.Unauthorised
		return e
	}
	if f := s.unsupported(p.status, text); f != "" {
		e.Kind, e.Feature = provider.Unsupported, f
		return e
	}
	e.Kind = kindOf(p.status, text)
	return e
}

// contextFull knows how servers say that a request doesn't fit.
func contextFull(text string) bool {
	return hasAny(text,
		"context_length_exceeded", "maximum context length", "reduce the length of the messages", // OpenAI, vLLM
		"maximum model length", "max_tokens must be at least 1", "max_model_len", // vLLM
		"exceed_context_size", "exceeds the available context size", "exceed context window", // llama.cpp and its Python server
		"trying to keep the first", "cannot truncate prompt with n_keep", // LM Studio
		"exceeds the context length", "exceeds maximum context length", // Ollama
		"no user query found", // Ollama 0.12 and older, after it cut the question away
		"context length exceeded", "context window", "context size exceeded", "prompt is too long", "input is too long",
		"input tokens exceed", "input token count exceeds", "too many input tokens",
	)
}

// unsupported tells which feature of the request the server says it can't do.
func (s Source) unsupported(status int, text string) provider.Feature {
	if status != 0 && status != 400 && status != 404 && status != 422 && status < 500 {
		return ""
	}
	says := hasAny(text, "not support", "unsupported", "doesn't support", "isn't supported", "no endpoints found that support")
	if status < 500 { // there these words may mean the server itself
		says = says || hasAny(text, "not available", "unavailable", "not enabled", "not implemented", "cannot be used")
	}
	for _, f := range s.Asked {
		names, refusals := featureWords(f)
		if hasAny(text, refusals...) || says && hasAny(text, names...) {
			return f
		}
	}
	return ""
}

// featureWords gives the words that name a feature in a refusal, and those
// that are a refusal by themselves.
func featureWords(f provider.Feature) (names, refusals []string) {
	switch f {
	case provider.FeatureTools:
		return []string{"tool", "function call"},
			[]string{"requires --jinja", "requires --enable-auto-tool-choice", "tool-call-parser"}
	case provider.FeatureImages:
		return []string{"image", "vision", "multimodal", "multi-modal"},
			[]string{"is not a multimodal model", "mmproj", "missing data required for image input", "unknown variant `image_url`", "content must be a string"}
	case provider.FeatureThinking:
		return []string{"think", "reasoning"}, nil
	case provider.FeatureSchema:
		return []string{"response_format", "json_schema", "structured output", "json schema", "guided", "grammar"}, nil
	}
	return nil, nil
}

// kindOf judges by status, and by words where a stream gave no status.
func kindOf(status int, text string) provider.Kind {
	switch {
	case status == 429:
		return provider.RateLimited
	case status == 404 && strings.Contains(text, "model"), hasAny(text, "model_not_found"):
		return provider.UnknownModel
	case (status == 400 || status == 422) && strings.Contains(text, "model") &&
		hasAny(text, "not found", "does not exist", "doesn't exist", "unknown model", "no such model", "invalid model", "not a valid model"):
		return provider.UnknownModel
	case status == 408 || status == 409 || status == 425 || status >= 500 && status != 501 && status != 505:
		return provider.Overloaded
	case status != 0:
		return provider.Rejected
	case hasAny(text, "rate_limit", "rate limit", "too many requests"):
		return provider.RateLimited
	case hasAny(text, "overloaded", "server_error", "server error", "internal", "unavailable", "timeout", "timed out"):
		return provider.Overloaded
	case hasAny(text, "invalid_request", "invalid request", "badrequest", "bad request"):
		return provider.Rejected
	}
	return provider.Broken
}

func hasAny(text string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}
