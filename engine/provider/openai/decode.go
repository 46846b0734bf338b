package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// The fields in which reasoning comes.
const (
	fieldReasoning        = "reasoning"
	fieldReasoningContent = "reasoning_content"
	fieldDetails          = "reasoning_details"
)

// chunk is one event's data, or a whole completion from a server that doesn't
// stream. Only what an answer consists of has to be of the documented form.
type chunk struct {
	Object  wire.String       `json:"object"`
	Choices wire.List[choice] `json:"choices"`
	Usage   wire.Maybe[usage] `json:"usage"`
	Groq    wire.Maybe[groq]  `json:"x_groq"`
}

type groq struct {
	Usage wire.Maybe[usage] `json:"usage"`
}

type choice struct {
	Index        wire.Int          `json:"index"`
	Delta        *delta            `json:"delta"`
	Message      *delta            `json:"message"`
	Text         wire.Content      `json:"text"` // of the older completions
	FinishReason wire.String       `json:"finish_reason"`
	Usage        wire.Maybe[usage] `json:"usage"` // Moonshot's place
}

type delta struct {
	Content          wire.Content                           `json:"content"`
	Reasoning        wire.Content                           `json:"reasoning"`
	ReasoningContent wire.Content                           `json:"reasoning_content"`
	Details          json.RawMessage                        `json:"reasoning_details"`
	Refusal          wire.Content                           `json:"refusal"`
	ToolCalls        wire.CallPieces                        `json:"tool_calls"`
	FunctionCall     wire.Maybe[wire.CallFunction]          `json:"function_call"`
	Annotations      wire.Maybe[wire.List[json.RawMessage]] `json:"annotations"`

	kept json.RawMessage // see keptOf
}

// UnmarshalJSON reads it.
func (d *delta) UnmarshalJSON(b []byte) error {
	type plain delta
	if err := json.Unmarshal(b, (*plain)(d)); err != nil {
		return err
	}
	d.kept = keptOf(b)
	return nil
}

type usage struct {
	Prompt            wire.Int                      `json:"prompt_tokens"`
	Completion        wire.Int                      `json:"completion_tokens"`
	CacheHit          wire.Int                      `json:"prompt_cache_hit_tokens"` // DeepSeek
	PromptDetails     wire.Maybe[promptDetails]     `json:"prompt_tokens_details"`
	CompletionDetails wire.Maybe[completionDetails] `json:"completion_tokens_details"`
}

type promptDetails struct {
	Cached wire.Int `json:"cached_tokens"`
	Write  wire.Int `json:"cache_write_tokens"`
}

type completionDetails struct {
	Reasoning wire.Int `json:"reasoning_tokens"`
}

type decoderOptions struct {
	source wire.Source
	names  *provider.Names
	notes  []provider.Note    // footnotes of the request
	gave   func(field string) // told of the field that reasoning came in
	newID  func() string      // nil is wire.NewCallID
	// thoughtEnd is provider.Request.ThoughtEnd.
	thoughtEnd string
	// verbatim passes text on as it is: it has no reasoning in it.
	verbatim bool
}

func (o decoderOptions) orDefault() decoderOptions {
	if o.newID == nil {
		o.newID = wire.NewCallID
	}
	if o.names == nil {
		o.names = provider.NewNames()
	}
	return o
}

// decoder reads one chat completion.
type decoder struct {
	o      decoderOptions
	events *wire.Events

	text      wire.Template // chunks that hold a piece of content and no more
	thought   wire.Template // the same for reasoning
	think     wire.Thinking
	details   details
	kept      json.RawMessage // members of the message that only the provider understands
	halves    wire.Halves
	calls     wire.Calls
	reasoning string // the field it came in
	finish    string // the finish reason, once it came
	answered  bool   // a choice came
	message   bool   // and was a whole message
	said      bool   // so did text
	refused   bool
	usage     *event.Usage
	progress  bool
}

// newDecoder makes the reader of a response.
func newDecoder(body io.Reader, o decoderOptions) *decoder {
	o = o.orDefault()
	d := &decoder{o: o, events: wire.NewEvents(body, wire.EventsOptions{
		Source: o.source, Page: "is the address right, up to its /v1?",
	})}
	if d.think.Begin(o.thoughtEnd); o.verbatim {
		d.think.Off()
	}
	return d
}

// Read takes what one network read brought.
func (d *decoder) Read(dst []provider.Delta) (wire.Read, error) {
	d.progress = false
	return d.events.Read(dst, d)
}

// State reports what the last events brought; see wire.Format.
func (d *decoder) State() (progress, finished bool) { return d.progress, d.finish != "" }

// Take takes one event; see wire.Format.
func (d *decoder) Take(dst []provider.Delta, e wire.Event) (_ []provider.Delta, done bool, err error) {
	e.Data = d.halves.Join(e.Data)
	if !e.Open && !e.Whole {
		if text, ok := d.text.Match(e.Data); ok {
			d.progress = true
			return d.content(dst, text), false, nil
		}
		if text, ok := d.thought.Match(e.Data); ok {
			d.progress = true
			return append(dst, provider.Delta{Kind: provider.Reasoning, Text: text}), false, nil
		}
	}
	data := bytes.TrimSpace(e.Data)
	switch {
	case len(data) == 0 || data[0] == ':':
		return dst, false, nil // a keep-alive that should have been a comment
	case string(data) == "[DONE]":
		dst, err = d.End(dst)
		return dst, true, err
	case e.Name == "error":
		return dst, false, d.o.source.InStream(data)
	case e.Open && !json.Valid(data):
		return dst, false, nil // what the cut left of an event; the end comes next
	}
	if dst, err = d.chunk(dst, data, !e.Whole); err != nil || !e.Whole {
		return dst, false, err
	}
	switch {
	case !d.answered:
		return dst, false, d.o.source.InBody(data) // an error of yet another form
	case d.message:
		dst, err = d.End(dst)
	}
	return dst, d.message, err
}

// chunk takes one chunk. learn has the next ones that are like it recognised; a
// body without a stream around it is not learnt from.
func (d *decoder) chunk(dst []provider.Delta, data []byte, learn bool) ([]provider.Delta, error) {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return dst, &wire.FormatError{Chunk: bytes.Clone(data), Err: err}
	}
	said := wire.ErrorIn(data)
	if said == nil && c.Object == "error" {
		said = data
	}
	switch {
	case said != nil && !learn && !d.answered:
		return dst, d.o.source.InBody(said)
	case said != nil:
		return dst, d.o.source.InStream(said)
	}
	d.count(c.Usage.Ref())
	d.count(c.Groq.V.Usage.Ref())
	for _, ch := range c.Choices {
		if ch.Index.N != 0 {
			continue // nobody asked for a second answer
		}
		d.answered = true
		d.count(ch.Usage.Ref())
		part := ch.Delta
		if part == nil && ch.Message != nil {
			part, d.message = ch.Message, true
		}
		if part == nil && len(ch.Text) > 0 {
			part = &delta{Content: ch.Text}
		}
		before := len(dst)
		if part != nil {
			var err error
			if dst, err = d.delta(dst, part); err != nil {
				return dst, err
			}
		}
		if ch.FinishReason == "error" {
			return dst, d.o.source.InStream([]byte(`{"message":"the provider stopped with an error"}`))
		}
		if ch.FinishReason != "" {
			d.finish = string(ch.FinishReason)
		} else if learn && len(c.Choices) == 1 && !c.Usage.Set && part != nil {
			d.learn(data, part, dst[before:])
		}
	}
	return dst, nil
}

// delta takes what a chunk adds to the answer.
func (d *decoder) delta(dst []provider.Delta, p *delta) ([]provider.Delta, error) {
	before := len(dst)
	reasoning, field := p.ReasoningContent, fieldReasoningContent
	if len(reasoning) == 0 {
		reasoning, field = p.Reasoning, fieldReasoning
	}
	for _, piece := range reasoning {
		dst = append(dst, provider.Delta{Kind: provider.Reasoning, Text: piece.Text})
		d.reasoning = field
	}
	if len(p.Details) > 0 && p.Details[0] == '[' && string(p.Details) != "[]" {
		d.progress = true
		d.think.Off()
		if err := d.details.add(p.Details); err != nil {
			return dst, err
		}
	}
	if len(dst) > before {
		d.think.Off()
	}
	for _, piece := range p.Content {
		if piece.Reasoning {
			dst = append(dst, provider.Delta{Kind: provider.Reasoning, Text: piece.Text})
			d.think.Off()
		} else {
			dst = d.content(dst, piece.Text)
		}
		d.progress = true
	}
	for _, piece := range p.Refusal {
		d.refused = true
		dst = d.content(dst, piece.Text)
	}
	if p.kept != nil {
		if d.kept = wire.JoinFields(d.kept, p.kept); len(d.kept) > wire.MaxBody {
			return dst, &wire.FormatError{Err: errors.New("the further fields of the message are longer than 16 MiB")}
		}
	}
	for _, piece := range p.ToolCalls {
		d.progress = true
		if err := d.calls.Add(piece); err != nil {
			return dst, err
		}
	}
	if p.FunctionCall.Set {
		d.progress = true
		if err := d.calls.Add(wire.CallPiece{Function: p.FunctionCall}); err != nil {
			return dst, err
		}
	}
	if len(p.Annotations.V) > 0 {
		dst = append(dst, provider.Delta{Kind: provider.Annotations, Annotations: p.Annotations.V})
	}
	d.progress = d.progress || len(dst) > before
	return dst, nil
}

func (d *decoder) content(dst []provider.Delta, text string) []provider.Delta {
	if text != "" {
		d.said = true
		dst = d.details.release(dst)
	}
	if d.think.Over() && text != "" {
		return append(dst, provider.Delta{Kind: provider.Content, Text: text})
	}
	return d.think.Add(dst, text)
}

// learn remembers a chunk that was one piece of text and nothing else.
func (d *decoder) learn(data []byte, p *delta, gave []provider.Delta) {
	if len(p.ToolCalls) > 0 || p.FunctionCall.Set || len(p.Details) > 0 || len(p.Annotations.V) > 0 || len(p.Refusal) > 0 || p.kept != nil {
		return
	}
	const mask = "obfuscation" // OpenAI's padding against guessing text by its length
	thoughts := len(p.Reasoning) + len(p.ReasoningContent)
	switch {
	case len(p.Content) == 1 && !p.Content[0].Reasoning && thoughts == 0:
		d.text.Learn(data, "content", p.Content[0].Text, mask)
	case len(p.Content) == 0 && thoughts == 1 && len(gave) == 1:
		d.thought.Learn(data, d.reasoning, gave[0].Text, mask)
	}
}

func (d *decoder) count(u *usage) {
	if u == nil || !u.Prompt.Set && !u.Completion.Set {
		return
	}
	d.usage = &event.Usage{InputTokens: u.Prompt.N, OutputTokens: u.Completion.N, CachedTokens: u.CacheHit.N}
	d.usage.CacheWriteTokens = u.PromptDetails.V.Write.N
	if u.PromptDetails.V.Cached.Set {
		d.usage.CachedTokens = u.PromptDetails.V.Cached.N
	}
	d.usage.ReasoningTokens = u.CompletionDetails.V.Reasoning.N
}

// Unfinished reports whether the arguments of a call are only a beginning.
func (d *decoder) Unfinished() bool { return wire.Unfinished(d.calls.List()) }

// End closes a response that has ended: what was held back, the calls, meta.
func (d *decoder) End(dst []provider.Delta) ([]provider.Delta, error) {
	before := len(dst)
	dst = d.details.release(d.think.End(dst))
	dst = wire.Footnotes(dst, d.o.notes)
	if d.kept != nil {
		dst = append(dst, provider.Delta{Kind: provider.ReasoningDetails, Details: keepFields(d.kept)})
	}
	dst = wire.FinishCalls(dst, d.calls.List(), wire.FinishOptions{
		Names: d.o.names, NewID: d.o.newID, Cut: wire.StopReason(d.finish) == provider.StopLength,
	})
	if d.reasoning != "" && d.o.gave != nil {
		d.o.gave(d.reasoning)
	}
	out, err := wire.Ending{Finish: d.finish, Refused: d.refused, Usage: d.usage}.Close(dst[before:], d.o.source, d.said)
	if err == nil {
		out[len(out)-1].Field = d.reasoning
	}
	return append(dst[:before], out...), err
}
