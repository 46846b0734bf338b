package ollama

import (
	"github.com/fettle-cli/fettle/engine/provider"
)

const (
	// leastCtx is the smallest context that is asked for, Ollama's own default
	// on most machines.
	leastCtx = 4096
	// mostCtx bounds the context of a model whose length nobody told.
	mostCtx = 128 << 10
	// answerReserve is kept for the answer, thinkReserve for one with thinking
	// before it, which commonly runs to several thousand tokens.
	answerReserve = 2048
	thinkReserve  = 8192
)

// sizing decides num_ctx for one request.
type sizing struct {
	fixed  int // 0 leaves it to need
	least  int // what the Modelfile asks for
	limit  int // the model's length or the cap; 0 is unknown
	need   int // tokens of the request and reserve
	loaded int // what the model is loaded with; 0 is not loaded
}

// need estimates the tokens that a request and its answer take. The estimate
// is allowed to be a quarter too low, since code and other scripts than Latin
// have more tokens than plain English of that length.
func need(req *provider.Request, thinks bool) int {
	reserve := answerReserve
	if thinks && (req.Think == nil || *req.Think) {
		reserve = thinkReserve
	}
	return req.Tokens + req.Tokens/4 + max(reserve, req.MaxTokens)
}

// numCtx is the context to ask for.
func (s sizing) numCtx() int {
	limit := s.limit
	if limit <= 0 {
		limit = mostCtx
	}
	if s.fixed > 0 {
		return min(s.fixed, limit)
	}
	n := leastCtx
	for n < max(s.need, s.least) && n < limit {
		n *= 2
	}
	n = min(n, limit)
	if s.loaded > n && s.loaded <= limit {
		return s.loaded
	}
	return n
}

// grow asks for twice the context after a refusal of n. It reports whether
// there is more to ask for.
func (s *sizing) grow(n int) bool {
	if s.fixed > 0 || s.limit <= 0 || n >= s.limit {
		return false
	}
	s.need, s.loaded = 2*n, 0
	return true
}

// ContextLimit is the longest context that a request to the model can get.
func (p *Provider) ContextLimit(m provider.Model) int {
	if m.Remote { // its context is not ours to size
		return m.ContextLength
	}
	limit := m.ContextLength
	if most := p.o.MaxCtx; most > 0 && (limit <= 0 || most < limit) {
		limit = most
	}
	if limit <= 0 {
		limit = mostCtx
	}
	fixed := p.o.NumCtx
	if fixed == 0 {
		fixed = p.o.ContextLength
	}
	if fixed > 0 {
		limit = min(limit, fixed)
	}
	return limit
}
