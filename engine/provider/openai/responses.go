package openai

import (
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
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
	chatcompletions.EndUser
}

// flatTool is a tool as the Responses API has it. Strict is always sent: some servers take it
// for true where it is missing, and some require it.
type flatTool struct {
	Type string `json:"type"`
	chatcompletions.ToolFunction
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
	chatcompletions.AnswerSchema
}

// encryptedReasoning is the value of include that makes a response contain the reasoning in
// encrypted form, which is the only form in which a later request can contain it.
const encryptedReasoning = "reasoning.encrypted_content"

// encodeResponse makes the body of a request to the Responses API. The server is asked to store
// nothing, so that each request contains the whole history.
func encodeResponse(b *chatcompletions.Built, req *provider.Request, q chatcompletions.Quirks, now chatcompletions.Adaption) error {
	out := responseRequest{
		Model: req.Model, MaxTokens: req.MaxTokens, Temperature: b.Temperature(req, q), Stream: !q.NoStream,
		Instructions: b.System(req, q, now), TopP: req.TopP, EndUser: chatcompletions.EndUserOf(req),
	}
	if b.Format || req.Verbosity != "" {
		out.Text = &textOptions{Verbosity: req.Verbosity}
	}
	if b.Format {
		out.Text.Format = &textFormat{"json_schema", b.Answer(req, q)}
	}
	h := newHistory(q, now, b.Names)
	for _, m := range req.Messages {
		h.add(m)
	}
	out.Input, b.Sent = h.items, h.sent
	b.NoteAnswered(req)
	for _, note := range h.notes {
		b.Notes = append(b.Notes, wire.Notef(note))
	}
	if !q.NoStore {
		out.Store, b.Sent.Store = new(bool), true
	}
	for _, fn := range b.Offer(req, q, now) {
		out.Tools = append(out.Tools, flatTool{Type: "function", ToolFunction: fn, Strict: fn.Strict})
	}
	out.Parallel = b.Parallel(req)
	if b.MustCall(req, q) {
		out.ToolChoice = flatChoice(b, req)
	}
	reason(b, &out, req, q)
	var err error
	b.Body, err = wire.Marshal(out)
	return err
}

// flatChoice is tool_choice as the Responses API takes it.
func flatChoice(b *chatcompletions.Built, req *provider.Request) any {
	name, _ := wire.MustCall(req, b.Tools)
	if name == provider.AnyTool {
		return "required"
	}
	return struct {
		Type string `json:"type"`
		Name string `json:"name"`
	}{"function", b.Names.Wire(name)}
}

// reason asks for the effort, for a summary of the reasoning, and for the reasoning itself in
// encrypted form. Models of OpenAI's that do not reason are not asked; others refuse what they
// don't have, and the refusal is learnt.
func reason(b *chatcompletions.Built, out *responseRequest, req *provider.Request, q chatcompletions.Quirks) {
	b.Think(req, q)
	r := reasoning{Effort: string(b.Effort)}
	if !plain().MatchString(req.Model) && b.Effort != provider.EffortNone {
		if !q.NoSummary {
			r.Summary, b.Sent.Summary = "auto", true
		}
		if !q.NoEncrypted {
			out.Include, b.Sent.Encrypted = []string{encryptedReasoning}, true
		}
	}
	if r != (reasoning{}) {
		out.Reasoning = &r
	}
}
