package openai

import (
	"net/url"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

var _ provider.Continuer = (*Provider)(nil)

// prefill is how an address is asked to continue an answer.
type prefill int

const (
	prefillNone     prefill = iota // it answers with another message
	prefillPlain                   // by the answer as the last message
	prefillPrefix                  // by the member prefix of the message
	prefillRepeated                // the same, and the response repeats the message
	prefillPartial                 // by the member partial of the message
	prefillFinal                   // by members of the request, as vLLM, SGLang, llama.cpp and TGI have them
)

// prefillOf returns how an address is asked, as its documentation says. The addresses of
// OpenAI, Azure, Google and xAI take such a message, and answer it with another one.
func prefillOf(u *url.URL) prefill {
	host := u.Hostname()
	under := func(domains ...string) bool {
		for _, d := range domains {
			if host == d || strings.HasSuffix(host, "."+d) {
				return true
			}
		}
		return false
	}
	switch {
	case under("openai.com", "googleapis.com", "x.ai"), azure(u):
		return prefillNone
	case under("openrouter.ai", "groq.com"):
		return prefillPlain
	case under("mistral.ai"):
		return prefillRepeated
	case under("deepseek.com"):
		if strings.Contains(u.Path, "beta") { // the only address that has it
			return prefillPrefix
		}
		return prefillNone
	case under("moonshot.ai", "moonshot.cn", "aliyuncs.com"):
		return prefillPartial
	}
	return prefillFinal
}

// Prefills returns what a model makes of a last message of the assistant. The Responses API
// has no parameter to continue one.
func (p *Provider) Prefills(model string) provider.Prefill {
	q := p.quirks(model)
	if p.api(model, q) == APIChat && q.prefill != prefillNone {
		return provider.PrefillContinued
	}
	return provider.PrefillAnswered
}

// noteAnswered adds the footnote that the last message is not continued, if it is the
// assistant's.
func (b *built) noteAnswered(req *provider.Request) {
	if wire.Begun(req) != "" {
		b.notes = append(b.notes, wire.Notef("the last message was not continued: "+req.Model+" answers it with another message at this address", provider.PrefillParam))
	}
}

// templateArgs are the arguments of a model's template.
type templateArgs struct {
	Thinking bool `json:"enable_thinking"`
}

// unthinking has a model continue the last message without reasoning: llama.cpp refuses to do
// both.
func (b *built) unthinking(out *chatRequest, req *provider.Request) {
	out.Template = &templateArgs{}
	if req.Think != nil && *req.Think {
		b.notes = append(b.notes, wire.Notef("reasoning was not asked for: "+req.Model+" can't think and continue an answer", provider.EffortParam))
	}
}

// continueLast has the model continue the last message, if it is the assistant's.
func (b *built) continueLast(out *chatRequest, req *provider.Request, how prefill) {
	n := len(out.Messages) - 1
	if n < 0 || out.Messages[n].Role != "assistant" || len(out.Messages[n].ToolCalls) > 0 {
		return
	}
	yes, no := true, false
	switch how {
	case prefillNone:
		b.noteAnswered(req)
	case prefillPrefix, prefillRepeated:
		out.Messages[n].Prefix = true
	case prefillPartial:
		out.Messages[n].Partial = true
	case prefillFinal:
		out.Final, out.Begin, b.sent.final = &yes, &no, true
	}
}
