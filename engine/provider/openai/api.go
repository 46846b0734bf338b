package openai

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// The APIs that a model may be asked by.
const (
	APIChat      = "chat"      // chat completions
	APIResponses = "responses" // the Responses API
)

// API returns the API that a model is asked by.
func (p *Provider) API(model string) string { return p.api(model, p.Quirks(model)) }

// api returns the API that a model is asked by: the configured one, the one that a refusal
// has named, or the usual one.
func (p *Provider) api(model string, q chatcompletions.Quirks) string {
	switch {
	case p.configured != "":
		return p.configured
	case q.API != "":
		return q.API
	case p.Base.Hostname() == "api.openai.com" && reasons(model):
		return APIResponses
	}
	return APIChat
}

// reasons reports whether a model of OpenAI's reasons, or is served by the Responses API
// alone. Over chat completions the newer ones take no tools unless they are asked not to
// reason, and all of them lose their reasoning from one response to the next.
func reasons(model string) bool {
	return families().MatchString(model) && !plain().MatchString(model)
}

// families matches the names of models that reason, and of the first GPT-5 for chats.
var families = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:ft:)?(?:o\d|codex-|computer-use|gpt-(?:[5-9]|\d\d)(?:\.\d+)?(?:$|[-:]))`)
})

// plain matches OpenAI's models that do not reason.
var plain = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:ft:)?(?:gpt-[34]|chatgpt|gpt-5-chat)`)
})

// learnAPI reports whether a refusal is about the API and names or leaves the other one. An
// address is moved from one to the other once in each direction.
func (p *Provider) learnAPI(err error, used *chatcompletions.Form, q *chatcompletions.Quirks) bool {
	var e *provider.Error
	if p.configured != "" || q.OnlyAPI || !errors.As(err, &e) || e.Kind == provider.ContextFull || e.Kind == provider.Unauthorised {
		return false
	}
	text := strings.ToLower(e.Message)
	says := wire.Mentions(text)
	if used == nil {
		pointed := says("v1/responses", "responses api", "/responses instead", "use /responses")
		if e.Status < 400 || e.Status >= 500 || e.Status == http.StatusTooManyRequests || !pointed || deployment(p.Base) {
			return false
		}
		q.API = APIResponses
		return true
	}
	if !missingAPI(e) && !(e.Status >= 400 && e.Status < 500 && says("v1/chat/completions", "chat completions")) {
		return false
	}
	q.API, q.OnlyAPI = APIChat, true
	return true
}

// useless reports whether an address that names the Responses API can't be asked by it: some
// name it in the words of another server, and answer with a page or a refusal.
func useless(err error) bool {
	var e *provider.Error
	return errors.As(err, &e) && (e.Kind == provider.Undecodable || e.Kind == provider.Rejected || e.Kind == provider.UnknownModel)
}

// missingAPI reports whether a refusal is that of an address that does not have the API.
func missingAPI(e *provider.Error) bool {
	return e.Status == http.StatusNotFound && e.Kind == provider.Rejected ||
		e.Status == http.StatusMethodNotAllowed || e.Status == http.StatusNotImplemented
}

// explain adds to the error of an address without the Responses API that the configuration
// has chosen it.
func (p *Provider) explain(err error) error {
	var e *provider.Error
	if p.configured != APIResponses || !errors.As(err, &e) || !missingAPI(e) {
		return err
	}
	told := *e
	told.Message += " (the configuration asks for the Responses API, which the address may not have)"
	return &told
}
