package openai

import (
	"net/url"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
)

var _ provider.Continuer = (*Provider)(nil)

// prefill is how an address is asked to continue an answer.
type prefill int

const (
	prefillNone    prefill = iota // it can't be
	prefillPlain                  // by the answer as the last message
	prefillPrefix                 // by the member prefix of the message
	prefillPartial                // by the member partial of the message
	prefillFinal                  // by members of the request, as vLLM, SGLang, llama.cpp and TGI have them
)

// prefillOf is how an address is asked, as its documentation says. OpenAI's own, Azure and
// Google begin another answer.
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
		return prefillPrefix
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

// Continues reports whether a model continues an answer. The Responses API has nothing for
// that.
func (p *Provider) Continues(model string) bool {
	q := p.quirks(model)
	return p.api(model, q) == APIChat && q.prefill != prefillNone
}

// continueLast has the last message continued, if it is an answer.
func (out *chatRequest) continueLast(how prefill) {
	n := len(out.Messages) - 1
	if n < 0 || out.Messages[n].Role != "assistant" || len(out.Messages[n].ToolCalls) > 0 {
		return
	}
	yes, no := true, false
	switch how {
	case prefillPrefix:
		out.Messages[n].Prefix = true
	case prefillPartial:
		out.Messages[n].Partial = true
	case prefillFinal:
		out.Final, out.Begin = &yes, &no
	}
}
