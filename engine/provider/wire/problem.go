package wire

import (
	"bytes"
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/engine/provider"
)

// problem is what a server says about a failure, whatever its form.
type problem struct {
	status  int
	code    string
	kind    string // its "type"
	param   string
	message string
	// page reports that the body is a web page, shapeless that the message is
	// the whole body, since no field of it is one.
	page, shapeless bool
}

// text is everything that may name the reason, in lower case.
func (p problem) text() string {
	return strings.ToLower(p.code + " " + p.kind + " " + p.param + " " + p.message)
}

// readProblem reads an error body: OpenAI's object, a bare string, FastAPI's
// detail, a list, a page of HTML, plain words, or JSON of any other form, which
// is its own message where no field of it is one.
func readProblem(body []byte) problem {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return problem{}
	}
	var p problem
	switch {
	case !json.Valid(body):
		p.message, p.page = plain(string(body))
		return p
	case body[0] == '{' || body[0] == '[':
		p.take(body, 0)
	default:
		p.message = words(body)
	}
	if p.message == "" {
		p.message, p.shapeless = compact(body), true
	}
	return p
}

// maxDepth bounds how deep in an error body its message is looked for.
const maxDepth = 5

// messageKeys are the fields of an error object that hold its message, or
// another error object; the surest first.
func messageKeys() []string {
	return []string{
		"message", "detail", "msg", "error", "errors", "reason", "error_message", "errorMessage", "error_description",
		"error_msg", "err", "description", "title", "details", "status_msg", "base_resp", "fault", "faultstring", "failure",
		"cause",
	}
}

// take reads an error object, or the first of a list. What is further inside
// wins for code, type and param.
func (p *problem) take(raw json.RawMessage, depth int) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, entry := range list {
			if p.message == "" {
				p.inner(entry, depth)
			}
		}
		return
	}
	var obj map[string]json.RawMessage
	if depth > maxDepth || json.Unmarshal(raw, &obj) != nil {
		return
	}
	for name, v := range obj { // Message and Error are some servers' spelling
		if name == "" {
			continue
		}
		if low := strings.ToLower(name[:1]) + name[1:]; low != name && obj[low] == nil {
			obj[low] = v
		}
	}
	for _, f := range []struct {
		key string
		to  *string
	}{{"status", &p.kind}, {"type", &p.kind}, {"error_type", &p.kind}, {"code", &p.code}, {"param", &p.param}} {
		if w := words(obj[f.key]); w != "" && (f.key != "status" || !isNumber(w)) {
			*f.to = w
		}
	}
	p.takeStatus(words(obj["code"]), words(obj["status"]), words(obj["status_code"]))
	p.takeMessage(obj, depth)
	p.takeMetadata(obj["metadata"])
}

// takeStatus takes the first of the texts that is the status of an error.
func (p *problem) takeStatus(texts ...string) {
	for _, text := range texts {
		if n, err := strconv.Atoi(text); err == nil && n >= 400 && n < 600 {
			p.status = n
			return
		}
	}
}

// takeMessage takes the message of an error object. The one of an error inside
// it is worth more than its own, which may only be a status.
func (p *problem) takeMessage(obj map[string]json.RawMessage, depth int) {
	for _, key := range []string{"error", "errors"} {
		if len(obj[key]) > 0 && strings.ContainsRune("{[", rune(obj[key][0])) {
			p.inner(obj[key], depth)
		}
	}
	for _, key := range messageKeys() {
		if p.message != "" {
			return
		}
		if len(obj[key]) > 0 {
			p.inner(obj[key], depth)
		}
	}
}

// inner takes a field that may hold the message, or an object with it. A text
// may be JSON once more.
func (p *problem) inner(raw json.RawMessage, depth int) {
	if len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') {
		p.take(raw, depth+1)
		return
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return // a number or a truth value is no message
	}
	if t := strings.TrimSpace(text); strings.HasPrefix(t, "{") && json.Valid([]byte(t)) && depth < maxDepth {
		p.take([]byte(t), depth+1)
	}
	if p.message == "" {
		p.message = text
	}
}

// takeMetadata takes what OpenRouter adds to an error: what its provider said,
// and the kind of the error.
func (p *problem) takeMetadata(raw json.RawMessage) {
	var meta struct {
		Raw  json.RawMessage `json:"raw"`
		Type String          `json:"error_type"`
	}
	if json.Unmarshal(raw, &meta) != nil {
		return
	}
	if meta.Type != "" {
		p.kind = string(meta.Type)
	}
	said := problem{}
	if w := words(meta.Raw); w != "" {
		said = readProblem([]byte(w))
	} else if len(meta.Raw) > 0 && meta.Raw[0] == '{' {
		said = readProblem(meta.Raw)
	}
	if said.message != "" && said.message != p.message {
		p.message += ": " + said.message
	}
}

// words gives a field as text: a string or a number.
func words(raw json.RawMessage) string {
	var s string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case json.Unmarshal(raw, &s) == nil:
		return s
	case raw[0] == '{' || raw[0] == '[':
		return ""
	}
	return string(raw)
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// compact is JSON without white space around its values; "" where it has none.
func compact(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil || !Says(b.Bytes()) {
		return ""
	}
	return b.String()
}

// plain gives the words of a body that is no JSON, and whether it is a web page.
func plain(body string) (words string, page bool) {
	low := strings.ToLower(body)
	if name := compression([]byte(body)); name != "" {
		return "its text is compressed (" + name + ")", false
	}
	if !strings.Contains(low, "<html") && !strings.Contains(low, "<!doctype") {
		return body, false
	}
	if a := strings.Index(low, "<title>"); a >= 0 {
		if b := strings.Index(low[a:], "</title>"); b >= 0 && len(low) == len(body) {
			return "a web page: " + html.UnescapeString(body[a+len("<title>"):a+b]), true
		}
	}
	return "a web page", true
}

// judge turns a problem into an error of the right kind.
func (s Source) judge(p problem) *provider.Error {
	e := s.Error(provider.Rejected, p.message, nil)
	e.Status, e.NoReason = p.status, p.vague()
	text := p.text()
	switch {
	case hasAny(text, "insufficient_quota", "billing_hard_limit", "exceeded your current quota"):
		return e // a 429 that no wait mends
	case p.status == 413 && p.page:
		return e // a proxy's limit on a request's bytes, which says nothing of the model
	case p.status == 413 || contextFull(p.status, text):
		e.Kind, e.NoReason = provider.ContextFull, false
		return e
	case p.status == 401 || p.status == 403 && aboutKey(text):
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

// keyWords are how a refusal names the key, or the account that it belongs to.
var keyWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bkeys?\b|api_?key|credential|authenticat|authori[sz]|unauthori[sz]|permission|` +
		`\bbearer\b|\b(access|auth|security|invalid|expired) tokens?\b|\btoken (is|has) (invalid|expired|not valid)|sign in|log ?in\b`)
})

// aboutKey reports whether a 403 is about the key: it may as well be about the
// content, the country, or the network.
func aboutKey(text string) bool { return keyWords().MatchString(text) }

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
			[]string{"is not a multimodal model", "mmproj", "missing data required for image input", "unknown variant `image_url`", "content must be a string", "invalid value: 'input_image'"}
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
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(text, p) })
}

// Mentions returns a function that reports whether the text of a refusal contains one of
// several words.
func Mentions(text string) func(words ...string) bool {
	return func(words ...string) bool { return hasAny(text, words...) }
}
