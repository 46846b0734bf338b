package openai

import (
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// responseRequest is the body of a request to the Responses API.
type responseRequest struct {
	Model        string       `json:"model"`
	Instructions string       `json:"instructions,omitempty"`
	Input        []inputItem  `json:"input"`
	Tools        []flatTool   `json:"tools,omitempty"`
	ToolChoice   any          `json:"tool_choice,omitempty"` // a word, or the tool
	Reasoning    *reasoning   `json:"reasoning,omitempty"`
	Text         *textOptions `json:"text,omitempty"`
	MaxTokens    int          `json:"max_output_tokens,omitempty"`
	Temperature  *float64     `json:"temperature,omitempty"`
	TopP         *float64     `json:"top_p,omitempty"`
	Parallel     *bool        `json:"parallel_tool_calls,omitempty"`
	Include      []string     `json:"include,omitempty"`
	Store        *bool        `json:"store,omitempty"`
	Stream       bool         `json:"stream"`
	endUser
}

// flatTool is a tool as the Responses API has it. Strict is always sent: some servers take it
// for true where it is missing, and some require it.
type flatTool struct {
	Type string `json:"type"`
	toolFunction
	Strict bool `json:"strict"`
}

type reasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

type textOptions struct {
	Format    *textFormat `json:"format,omitempty"`
	Verbosity string      `json:"verbosity,omitempty"`
}

type textFormat struct {
	Type string `json:"type"`
	jsonSchema
}

// encryptedReasoning is the value of include that makes a response contain the reasoning in
// encrypted form, which is the only form in which a later request can contain it.
const encryptedReasoning = "reasoning.encrypted_content"

// responses makes the body of a request to the Responses API. The server is asked to store
// nothing, so that each request contains the whole history.
func (b *built) responses(req *provider.Request, q quirks, now adaption) error {
	out := responseRequest{
		Model: req.Model, MaxTokens: req.MaxTokens, Temperature: b.temperature(req, q), Stream: !q.noStream,
		Instructions: b.schema(req, q, now), TopP: req.TopP, endUser: endUserOf(req),
	}
	if b.format || req.Verbosity != "" {
		out.Text = &textOptions{Verbosity: req.Verbosity}
	}
	if b.format {
		out.Text.Format = &textFormat{"json_schema", answerSchema(req)}
	}
	h := newHistory(q, now, b.names)
	for _, m := range req.Messages {
		h.add(m)
	}
	out.Input, b.sent = h.items, h.sent
	b.noteAnswered(req)
	for _, note := range h.notes {
		b.notes = append(b.notes, wire.Notef(note))
	}
	if !q.noStore {
		out.Store, b.sent.store = new(bool), true
	}
	for _, fn := range b.offer(req, now) {
		out.Tools = append(out.Tools, flatTool{Type: "function", toolFunction: fn, Strict: fn.Strict})
	}
	out.Parallel = b.parallel(req)
	if b.mustCall(req, q) {
		out.ToolChoice = b.flatChoice(req)
	}
	b.reason(&out, req, q)
	var err error
	b.body, err = wire.Marshal(out)
	return err
}

// flatChoice is tool_choice as the Responses API takes it.
func (b *built) flatChoice(req *provider.Request) any {
	name, _ := wire.MustCall(req, b.tools)
	if name == provider.AnyTool {
		return "required"
	}
	return struct {
		Type string `json:"type"`
		Name string `json:"name"`
	}{"function", b.names.Wire(name)}
}

// reason asks for the effort, for a summary of the reasoning, and for the reasoning itself in
// encrypted form. Models of OpenAI's that do not reason are not asked; others refuse what they
// don't have, and the refusal is learnt.
func (b *built) reason(out *responseRequest, req *provider.Request, q quirks) {
	b.think(req, q)
	r := reasoning{Effort: string(b.effort)}
	if !plain().MatchString(req.Model) && b.effort != provider.EffortNone {
		if !q.noSummary {
			r.Summary, b.sent.summary = "auto", true
		}
		if !q.noEncrypted {
			out.Include, b.sent.encrypted = []string{encryptedReasoning}, true
		}
	}
	if r != (reasoning{}) {
		out.Reasoning = &r
	}
}
