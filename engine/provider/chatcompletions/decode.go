package chatcompletions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// The fields in which reasoning comes.
const (
	FieldReasoning        = "reasoning"
	FieldReasoningContent = "reasoning_content"
	FieldDetails          = "reasoning_details"
)

// chunk is one event's data, or a whole completion from a server that doesn't
// stream. Only what an answer consists of has to be of the documented form.
type chunk struct {
	Object  wire.String       `json:"object"`
	Message json.RawMessage   `json:"message"` // of an error
	Choices wire.List[choice] `json:"choices"`
	Usage   wire.Maybe[Usage] `json:"usage"`
	Groq    wire.Maybe[groq]  `json:"x_groq"`
}

type groq struct {
	Usage wire.Maybe[Usage] `json:"usage"`
}

type choice struct {
	Index        wire.Int          `json:"index"`
	Delta        *delta            `json:"delta"`
	Message      *delta            `json:"message"`
	Text         wire.Content      `json:"text"` // of the older completions
	FinishReason wire.String       `json:"finish_reason"`
	Usage        wire.Maybe[Usage] `json:"usage"` // Moonshot's place
}

type delta struct {
	Content          content                                `json:"content"`
	Reasoning        wire.Content                           `json:"reasoning"`
	ReasoningContent wire.Content                           `json:"reasoning_content"`
	Details          json.RawMessage                        `json:"reasoning_details"`
	Refusal          wire.Content                           `json:"refusal"`
	ToolCalls        wire.CallPieces                        `json:"tool_calls"`
	FunctionCall     wire.Maybe[wire.CallFunction]          `json:"function_call"`
	Annotations      wire.Maybe[wire.List[json.RawMessage]] `json:"annotations"`

	raw  json.RawMessage // all of it, until the next event
	kept json.RawMessage // see keptOf
}

// UnmarshalJSON reads it.
func (d *delta) UnmarshalJSON(b []byte) error {
	type plain delta
	if err := json.Unmarshal(b, (*plain)(d)); err != nil {
		return err
	}
	d.raw = b
	return nil
}

// Usage are the tokens of a response.
type Usage struct {
	Prompt            wire.Int                      `json:"prompt_tokens"`
	Completion        wire.Int                      `json:"completion_tokens"`
	CacheHit          wire.Int                      `json:"prompt_cache_hit_tokens"` // DeepSeek
	PromptDetails     wire.Maybe[PromptDetails]     `json:"prompt_tokens_details"`
	CompletionDetails wire.Maybe[CompletionDetails] `json:"completion_tokens_details"`
	// Mistral has counted cached tokens in these places, too.
	Cached       wire.Int                  `json:"num_cached_tokens"`
	PromptDetail wire.Maybe[PromptDetails] `json:"prompt_token_details"`
}

// PromptDetails are the tokens of a prompt that were cached.
type PromptDetails struct {
	Cached wire.Int `json:"cached_tokens"`
	Write  wire.Int `json:"cache_write_tokens"`
}

// CompletionDetails are the tokens of a response that were reasoning.
type CompletionDetails struct {
	Reasoning wire.Int `json:"reasoning_tokens"`
}

// DecoderOptions are what a decoder has to know of the request and the address.
type DecoderOptions struct {
	Source wire.Source
	Names  *provider.Names // nil are the names as they come
	Notes  []provider.Note // footnotes of the request
	// NewID makes an id for a call that came without one; nil is wire.NewCallID.
	NewID func() string
	// ThoughtEnd is provider.Request.ThoughtEnd.
	ThoughtEnd string
	// Verbatim passes text on as it is: it has no reasoning in it.
	Verbatim bool
	// Chunks is Quirks.Chunks. Reasoning comes in no other place then.
	Chunks bool
	// InStream is Dialect.InStream.
	InStream func(src wire.Source, data []byte) *provider.Error

	gave func(field string) // called with the field that reasoning came in
}

// OrDefault returns the options with their defaults.
func (o DecoderOptions) OrDefault() DecoderOptions {
	if o.NewID == nil {
		o.NewID = wire.NewCallID
	}
	if o.Names == nil {
		o.Names = provider.NewNames()
	}
	if o.InStream == nil {
		o.InStream = wire.Source.InStream
	}
	return o
}

// InStream reads an error that came where a chunk was due.
func (d *Decoder) InStream(data []byte) *provider.Error { return d.o.InStream(d.o.Source, data) }

// InBody reads a body with status 200 that is not an answer; see wire.Source.InBody.
func (d *Decoder) InBody(data []byte) *provider.Error {
	if d.o.Chunks {
		if e := d.InStream(data); e.Kind != provider.Broken {
			return e
		}
	}
	return d.o.Source.InBody(data)
}

// Decoder reads one chat completion.
type Decoder struct {
	o      DecoderOptions
	events *wire.Events

	text      wire.Template // chunks that hold a piece of content and no more
	thought   wire.Template // the same for reasoning
	think     wire.Thinking
	details   details
	thoughts  thoughtChunks
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

// NewDecoder makes the reader of a response.
func NewDecoder(body io.Reader, o DecoderOptions) *Decoder {
	o = o.OrDefault()
	d := &Decoder{o: o, events: wire.NewEvents(body, wire.EventsOptions{
		Source: o.Source, Page: "is the address right, up to its /v1?",
	})}
	if d.think.Begin(o.ThoughtEnd); o.Verbatim || o.Chunks {
		d.think.Off()
	}
	return d
}

// Read takes what one network read brought.
func (d *Decoder) Read(dst []provider.Delta) (wire.Read, error) { return d.ReadAs(dst, d) }

// ReadAs is Read for events of another format, which passes their parts on to the decoder.
func (d *Decoder) ReadAs(dst []provider.Delta, f wire.Format) (wire.Read, error) {
	d.progress = false
	return d.events.Read(dst, f)
}

// State reports what the last events brought; see wire.Format.
func (d *Decoder) State() (progress, finished bool) { return d.progress, d.finish != "" }

// Take takes one event; see wire.Format.
func (d *Decoder) Take(dst []provider.Delta, e wire.Event) (_ []provider.Delta, done bool, err error) {
	e.Data = d.halves.Join(e.Data)
	if !e.Open && !e.Whole && e.Name != "error" {
		if text, ok := d.text.Match(e.Data); ok {
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
		return dst, false, d.InStream(data)
	case e.Open && !json.Valid(data):
		return dst, false, nil // what the cut left of an event; the end comes next
	}
	if dst, err = d.chunk(dst, data, !e.Whole); err != nil || !e.Whole {
		return dst, false, err
	}
	switch {
	case !d.answered:
		return dst, false, d.InBody(data) // an error of yet another form
	case d.message:
		dst, err = d.End(dst)
	}
	return dst, d.message, err
}

// chunk takes one chunk. learn has the next ones that are like it recognised; a
// body without a stream around it is not learnt from.
func (d *Decoder) chunk(dst []provider.Delta, data []byte, learn bool) ([]provider.Delta, error) {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return dst, &wire.FormatError{Chunk: bytes.Clone(data), Err: err}
	}
	said := wire.ErrorIn(data)
	if said == nil && (c.Object == "error" || d.o.Chunks && (strings.EqualFold(string(c.Object), "error") || len(c.Choices) == 0 && wire.Says(c.Message))) {
		said = data
	}
	switch {
	case said != nil && !learn && !d.answered:
		return dst, d.InBody(said)
	case said != nil:
		return dst, d.InStream(said)
	}
	d.Count(c.Usage.Ref())
	d.Count(c.Groq.V.Usage.Ref())
	for _, ch := range c.Choices {
		if ch.Index.N != 0 {
			continue // one answer was requested
		}
		d.answered = true
		d.Count(ch.Usage.Ref())
		part := ch.Delta
		if part == nil && ch.Message != nil {
			part, d.message = ch.Message, true
		}
		if part == nil && len(ch.Text) > 0 {
			part = &delta{Content: content{Content: ch.Text}}
		}
		before := len(dst)
		if part != nil {
			var err error
			if dst, err = d.delta(dst, part); err != nil {
				return dst, err
			}
		}
		if ch.FinishReason == "error" {
			return dst, d.o.Source.InStream([]byte(`{"message":"the provider stopped with an error"}`))
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
func (d *Decoder) delta(dst []provider.Delta, p *delta) (_ []provider.Delta, err error) {
	before := len(dst)
	if d.o.Chunks {
		*p = delta{Content: p.Content, ToolCalls: p.ToolCalls}
	}
	if p.raw != nil {
		p.kept = keptOf(p.raw)
	}
	if dst, err = d.reason(dst, p); err != nil {
		return dst, err
	}
	if dst, err = d.contents(dst, &p.Content); err != nil {
		return dst, err
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
		if err := d.AddCall(piece); err != nil {
			return dst, err
		}
	}
	if p.FunctionCall.Set {
		if err := d.AddCall(wire.CallPiece{Function: p.FunctionCall}); err != nil {
			return dst, err
		}
	}
	if len(p.Annotations.V) > 0 {
		dst = append(dst, provider.Delta{Kind: provider.Annotations, Annotations: p.Annotations.V})
	}
	d.progress = d.progress || len(dst) > before
	return dst, nil
}

// reason takes the reasoning that a chunk has in fields of its own.
func (d *Decoder) reason(dst []provider.Delta, p *delta) ([]provider.Delta, error) {
	reasoning, field := p.ReasoningContent, FieldReasoningContent
	if len(reasoning) == 0 {
		reasoning, field = p.Reasoning, FieldReasoning
	}
	for _, piece := range reasoning {
		dst = append(dst, provider.Delta{Kind: provider.Reasoning, Text: piece.Text})
		d.reasoning = field
	}
	if len(reasoning) > 0 {
		d.think.Off()
	}
	if len(p.Details) > 0 && p.Details[0] == '[' && string(p.Details) != "[]" {
		d.progress = true
		d.think.Off()
		return dst, d.details.add(p.Details)
	}
	return dst, nil
}

// AddCall takes a piece of a call.
func (d *Decoder) AddCall(piece wire.CallPiece) error {
	d.progress = true
	if piece.ID == "null" && d.o.Chunks {
		piece.ID = "" // what Mistral's own clients send for none
	}
	return d.calls.Add(piece)
}

// Content takes a content, as a message or a delta has it.
func (d *Decoder) Content(dst []provider.Delta, raw json.RawMessage) ([]provider.Delta, error) {
	var c content
	if len(raw) == 0 {
		return dst, nil
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return dst, &wire.FormatError{Chunk: bytes.Clone(raw), Err: err}
	}
	return d.contents(dst, &c)
}

func (d *Decoder) contents(dst []provider.Delta, c *content) ([]provider.Delta, error) {
	switch {
	case c.raw == nil:
	case d.o.Chunks:
		return d.chunks(dst, c.raw)
	default:
		if err := c.Content.UnmarshalJSON(c.raw); err != nil {
			return dst, &wire.FormatError{Chunk: bytes.Clone(c.raw), Err: err}
		}
	}
	for _, piece := range c.Content {
		if piece.Reasoning {
			dst = append(dst, provider.Delta{Kind: provider.Reasoning, Text: piece.Text})
			d.think.Off()
		} else {
			dst = d.content(dst, piece.Text)
		}
		d.progress = true
	}
	return dst, nil
}

// chunks takes a list of chunks, whose thinking is passed back as it came.
func (d *Decoder) chunks(dst []provider.Delta, raw json.RawMessage) ([]provider.Delta, error) {
	pieces, err := readContent(raw)
	if err != nil {
		return dst, &wire.FormatError{Chunk: bytes.Clone(raw), Err: err}
	}
	for _, c := range pieces {
		if c.thinking == nil {
			dst = d.content(dst, c.text)
			continue
		}
		d.progress = true
		text, err := d.thoughts.add(c)
		if text != "" {
			dst = append(dst, provider.Delta{Kind: provider.Reasoning, Text: text})
		}
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func (d *Decoder) content(dst []provider.Delta, text string) []provider.Delta {
	if text != "" {
		d.said, d.progress = true, true
		dst = d.release(dst)
	}
	if d.think.Over() && text != "" {
		return append(dst, provider.Delta{Kind: provider.Content, Text: text})
	}
	return d.think.Add(dst, text)
}

// release hands on what has to be passed back of the reasoning so far.
func (d *Decoder) release(dst []provider.Delta) []provider.Delta {
	return d.thoughts.release(d.details.release(dst))
}

// learn remembers a chunk that was one piece of text and nothing else.
func (d *Decoder) learn(data []byte, p *delta, gave []provider.Delta) {
	if len(p.ToolCalls) > 0 || p.FunctionCall.Set || len(p.Details) > 0 || len(p.Annotations.V) > 0 || len(p.Refusal) > 0 || p.kept != nil {
		return
	}
	mask := "obfuscation" // padding against guessing text by its length
	if d.o.Chunks {
		mask = "p" // Mistral's
	}
	thoughts := len(p.Reasoning) + len(p.ReasoningContent)
	switch {
	case len(p.Content.Content) == 1 && !p.Content.Content[0].Reasoning && thoughts == 0:
		d.text.Learn(data, "content", p.Content.Content[0].Text, mask)
	case len(p.Content.Content) == 0 && thoughts == 1 && len(gave) == 1:
		d.thought.Learn(data, d.reasoning, gave[0].Text, mask)
	}
}

// Count takes the usage of the response; nil is none.
func (d *Decoder) Count(u *Usage) {
	if u == nil || !u.Prompt.Set && !u.Completion.Set {
		return
	}
	cached := u.CacheHit
	if u.PromptDetails.V.Cached.Set {
		cached = u.PromptDetails.V.Cached
	}
	d.usage = &event.Usage{
		InputTokens: u.Prompt.N, OutputTokens: u.Completion.N,
		CachedTokens:     cmp.Or(u.Cached.N, cached.N, u.PromptDetail.V.Cached.N),
		CacheWriteTokens: u.PromptDetails.V.Write.N, ReasoningTokens: u.CompletionDetails.V.Reasoning.N,
	}
}

// Unfinished reports whether the arguments of a call are only a beginning.
func (d *Decoder) Unfinished() bool { return wire.Unfinished(d.calls.List()) }

// End closes a response that has ended: what was held back, the calls, meta.
func (d *Decoder) End(dst []provider.Delta) ([]provider.Delta, error) {
	before := len(dst)
	dst = d.release(d.think.End(dst))
	dst = wire.Footnotes(dst, d.o.Notes)
	if d.kept != nil {
		dst = append(dst, provider.Delta{Kind: provider.ReasoningDetails, Details: keepFields(d.kept)})
	}
	dst = wire.FinishCalls(dst, d.calls.List(), wire.FinishOptions{
		Names: d.o.Names, NewID: d.o.NewID, Cut: wire.StopReason(d.finish) == provider.StopLength,
	})
	if d.reasoning != "" && d.o.gave != nil {
		d.o.gave(d.reasoning)
	}
	out, err := wire.Ending{Finish: d.finish, Refused: d.refused, Usage: d.usage}.Close(dst[before:], d.o.Source, d.said)
	if err == nil {
		out[len(out)-1].Field = d.reasoning
	}
	return append(dst[:before], out...), err
}
