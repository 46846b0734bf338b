package anthropic

import (
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

var (
	_ provider.Announcer = (*Provider)(nil)
	_ provider.Continuer = (*Provider)(nil)
)

// keep leaves out the parameters that the API or the model does not take.
func (e *encoder) keep() {
	takes := []string{provider.StopParam, provider.ParallelCallsParam, provider.UserParam}
	if e.req.User == "" {
		takes = append(takes, provider.SafetyIDParam) // the API has one identifier
	}
	if e.f.takes&warm != 0 {
		takes = append(takes, provider.TopPParam, provider.TopKParam)
	}
	if e.f.takes&native != 0 {
		takes = append(takes, provider.StrictParam)
	}
	if tier := e.req.ServiceTier; tier == "auto" || tier == "standard_only" {
		takes = append(takes, provider.ServiceTierParam)
	}
	if e.f.think == thinkBudget || e.f.think == thinkUnknown {
		takes = append(takes, provider.ThinkTokensParam)
	}
	e.req, e.built.notes = wire.Keep(e.req, wire.Except(takes, e.q.refused))
}

// strict asks the API to hold the arguments of a tool to its schema, where the schema has a
// form that the API takes for that.
func (e *encoder) strict(offered *tool, t provider.ToolSpec) {
	schema, err := outputSchema(t.InputSchema)
	if err != nil {
		e.noteParam(provider.StrictParam, "strict was left out of the tool %s: %v", t.Name, err)
		return
	}
	offered.InputSchema, offered.Strict = schema, true
}

// oneCall forbids more than one call in a response, if the request does.
func (e *encoder) oneCall() {
	if e.req.ParallelCalls == nil || *e.req.ParallelCalls || len(e.built.tools) == 0 {
		return
	}
	if e.out.ToolChoice == nil {
		e.out.ToolChoice = &toolChoice{Type: "auto"}
	}
	e.out.ToolChoice.OneCall = e.out.ToolChoice.Type != "none"
}

// onWire is the name of a parameter in the API.
func onWire(param string) string {
	switch param {
	case provider.StopParam:
		return "stop_sequences"
	case provider.UserParam, provider.SafetyIDParam:
		return "metadata"
	case provider.ParallelCallsParam:
		return "disable_parallel_tool_use"
	case provider.StrictParam:
		return "strict"
	}
	return param
}

// Prefills returns what a model makes of a last message of the assistant. Anthropic's own
// models continue it up to version 4.5; later ones refuse it.
func (p *Provider) Prefills(model string) provider.Prefill {
	_, version, ok := parseName(model)
	if !ok || version != noVersion && version < 406 {
		return provider.PrefillContinued
	}
	return provider.PrefillRefused
}

// prefilled reports whether the request ends with an answer to continue, which no model does
// while it thinks. The API refuses blanks at the end of such an answer, so they are removed.
func (e *encoder) prefilled() bool {
	n := len(e.out.Messages) - 1
	if n < 0 || e.out.Messages[n].Role != roleAssistant {
		return false
	}
	content := e.out.Messages[n].Content
	last := &content[len(content)-1]
	last.Text = strings.TrimRight(last.Text, " \t\r\n")
	return last.Type == typeText
}

// Notes returns the footnotes about the parameters of a request; see [provider.Announcer].
func (p *Provider) Notes(req *provider.Request) []provider.Note {
	b, err := encode(wire.Bare(req), p.quirks(req.Model), adaption{refused: p.refused.Of(req)})
	if err != nil {
		return nil
	}
	return wire.AboutParams(b.notes)
}
