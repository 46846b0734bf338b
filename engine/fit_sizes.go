package engine

import (
	"maps"

	"github.com/fettle-cli/fettle/engine/budget"
	"github.com/fettle-cli/fettle/engine/provider"
)

// What the estimate counts beside texts: what chat templates and image encoders
// commonly take.
const (
	messageOverhead = 8
	imageTokens     = 1200
	soundBytes      = 500 // a token of sound: 32 a second of MP3 at 128 kbit/s
)

// estimate guesses how many tokens a request holds, before anything is known of
// the model. It is never shown as a count.
func estimate(req *provider.Request) int {
	n := fixedTokens(req)
	for _, m := range req.Messages {
		n += messageTokens(m)
	}
	return n
}

// fixedTokens are those that go with every request.
func fixedTokens(req *provider.Request) int {
	n := messageOverhead + budget.Tokens(req.System) + budget.Tokens(string(req.Schema))
	for _, t := range req.Tools {
		n += messageOverhead + budget.Tokens(t.Name) + budget.Tokens(t.Description) + budget.Tokens(string(t.InputSchema))
	}
	return n
}

func messageTokens(m provider.Message) int {
	n := messageOverhead
	for _, p := range m.Parts {
		n += partTokens(p)
	}
	return n
}

func partTokens(p provider.Part) int {
	n := budget.Tokens(p.Text) + budget.Tokens(string(p.Details))
	switch {
	case p.Kind == provider.ImagePart:
		n += imageTokens
	case p.Call != nil:
		n += budget.Tokens(p.Call.Name) + budget.Tokens(string(p.Call.Args))
	case p.Result != nil:
		n += budget.Tokens(p.Result.Text)
		for _, m := range p.Result.Media {
			n += mediaTokens(m)
		}
	}
	return n
}

func mediaTokens(m provider.Part) int {
	if m.Kind == provider.ImagePart {
		return imageTokens
	}
	return len(m.Data)/soundBytes + 1
}

// sized is a request as the budget knows it, with the messages that its sizes
// are of. Extra messages count as fixed: they belong to the last response, and
// nothing of them can give way.
func (a assembly) sized(req *provider.Request) (budget.Request, []placed) {
	if a.without[provider.FeatureTools] { // calls and results are words then, but of the same size
		a.without = maps.Clone(a.without)
		delete(a.without, provider.FeatureTools)
	}
	out, all := budget.Request{Fixed: fixedTokens(req)}, a.place()
	for _, m := range a.extra {
		out.Fixed += messageTokens(m)
	}
	for _, m := range all {
		s := budget.Size{Tokens: messageTokens(m.Message), Summary: m.from == ofSummary || m.from == ofSince}
		switch m.Role {
		case provider.Assistant:
			s.Role = budget.Assistant
		case provider.Tool:
			s.Role = budget.Tool
			for _, p := range m.Parts {
				s.Results = append(s.Results, partTokens(p))
			}
		}
		out.Messages = append(out.Messages, s)
	}
	return out, all
}
