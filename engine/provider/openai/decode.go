package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
	"github.com/fettle-cli/fettle/internal/sse"
)

// The fields in which reasoning comes.
const (
	fieldReasoning        = "reasoning"
	fieldReasoningContent = "reasoning_content"
	fieldDetails          = "reasoning_details"
)

// chunk is one event's data, or a whole completion from a server that doesn't
// stream.
type chunk struct {
	Object  wire.String     `json:"object"`
	Error   json.RawMessage `json:"error"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Groq    *struct {
		Usage *usage `json:"usage"`
	} `json:"x_groq"`
}

type choice struct {
	Index        wire.Int        `json:"index"`
	Delta        *delta          `json:"delta"`
	Message      *delta          `json:"message"`
	FinishReason wire.String     `json:"finish_reason"`
	Error        json.RawMessage `json:"error"`
}

type delta struct {
	Content          wire.Content       `json:"content"`
	Reasoning        wire.Content       `json:"reasoning"`
	ReasoningContent wire.Content       `json:"reasoning_content"`
	Details          json.RawMessage    `json:"reasoning_details"`
	Refusal          wire.Content       `json:"refusal"`
	ToolCalls        wire.CallPieces    `json:"tool_calls"`
	FunctionCall     *wire.CallFunction `json:"function_call"`
	Annotations      []json.RawMessage  `json:"annotations"`

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
	Prompt        wire.Int `json:"prompt_tokens"`
	Completion    wire.Int `json:"completion_tokens"`
	CacheHit      wire.Int `json:"prompt_cache_hit_tokens"` // DeepSeek
	PromptDetails *struct {
		Cached wire.Int `json:"cached_tokens"`
		Write  wire.Int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails *struct {
		Reasoning wire.Int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

type decoderOptions struct {
	source wire.Source
	names  *provider.Names
	notes  []string           // footnotes of the request
	gave   func(field string) // told of the field that reasoning came in
	newID  func() string      // nil is wire.NewCallID
	// thoughtEnd is provider.Request.ThoughtEnd.
	thoughtEnd string
}

// decoder reads one response.
type decoder struct {
	o      decoderOptions
	events *sse.Reader
	whole  io.Reader // a body that is no stream, before it is read

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
	refused   bool
	usage     *event.Usage
	failed    error // from an SSE field that is none
	progress  bool
}

// newDecoder makes the reader of a response with this Content-Type.
func newDecoder(body io.Reader, contentType string, o decoderOptions) (*decoder, error) {
	if o.newID == nil {
		o.newID = wire.NewCallID
	}
	if o.names == nil {
		o.names = provider.NewNames()
	}
	d := &decoder{o: o}
	d.think.Begin(o.thoughtEnd)
	switch kind, _, _ := strings.Cut(strings.ToLower(contentType), ";"); strings.TrimSpace(kind) {
	case "text/html":
		head, _ := io.ReadAll(io.LimitReader(body, 512))
		return nil, &wire.FormatError{Chunk: head, Err: errors.New("it is a web page; is the address right, up to its /v1?")}
	case "application/json":
		d.whole = body
	default:
		d.stream(body)
	}
	return d, nil
}

func (d *decoder) stream(body io.Reader) {
	d.events = sse.NewReader(body, sse.Options{Open: true, Field: d.field})
}

// field takes an SSE field that is none. Older llama.cpp servers report errors
// in one.
func (d *decoder) field(name string, value []byte) {
	if name == "error" && d.failed == nil {
		d.failed = d.o.source.InStream(value)
	}
}

// Read takes what one network read brought.
func (d *decoder) Read(dst []provider.Delta) (wire.Read, error) {
	d.progress = false
	if d.whole != nil {
		if done, dst, err := d.readWhole(dst); done || err != nil {
			return wire.Read{Deltas: dst, Progress: true, Done: err == nil}, err
		}
	}
	e, err := d.events.Next()
	for more := err == nil; more; e, more = d.events.Buffered() {
		var done bool
		if dst, done, err = d.event(dst, e); err != nil || done {
			return wire.Read{Deltas: dst, Progress: d.progress, Done: done && err == nil}, err
		}
	}
	if d.failed != nil {
		return wire.Read{Deltas: dst}, d.failed
	}
	if err == io.EOF && d.finish != "" {
		dst, err = d.end(dst)
		return wire.Read{Deltas: dst, Done: err == nil}, err
	}
	return wire.Read{Deltas: dst, Progress: d.progress}, err
}

// readWhole reads a body that says it is no stream. done is false where it is
// one after all.
func (d *decoder) readWhole(dst []provider.Delta) (done bool, _ []provider.Delta, err error) {
	body, err := io.ReadAll(io.LimitReader(d.whole, wire.MaxBody+1))
	d.whole = nil
	if err != nil {
		return false, dst, err
	}
	if len(body) > wire.MaxBody {
		return false, dst, &wire.FormatError{Err: errors.New("it is longer than 16 MiB")}
	}
	if trimmed := bytes.TrimSpace(body); len(trimmed) > 0 && trimmed[0] != '{' {
		d.stream(bytes.NewReader(body))
		return false, dst, nil
	}
	if dst, err = d.chunk(dst, body, false); err != nil {
		return false, dst, err
	}
	if !d.answered {
		return false, dst, d.o.source.InStream(body) // an error of yet another form
	}
	dst, err = d.end(dst)
	return err == nil, dst, err
}

// event takes one event. done tells that the response has ended.
func (d *decoder) event(dst []provider.Delta, e sse.Event) (_ []provider.Delta, done bool, err error) {
	e.Data = d.halves.Join(e.Data)
	if !e.Open {
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
		if d.failed != nil {
			return dst, false, d.failed
		}
		dst, err = d.end(dst)
		return dst, true, err
	case e.Name == "error":
		return dst, false, d.o.source.InStream(data)
	case e.Open && !json.Valid(data):
		return dst, false, nil // what the cut left of an event; the end comes next
	}
	dst, err = d.chunk(dst, data, true)
	return dst, false, err
}

// chunk takes one chunk. learn has the next ones that are like it recognised.
func (d *decoder) chunk(dst []provider.Delta, data []byte, learn bool) ([]provider.Delta, error) {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return dst, &wire.FormatError{Chunk: bytes.Clone(data), Err: err}
	}
	if wire.Says(c.Error) || c.Object == "error" {
		return dst, d.o.source.InStream(data)
	}
	d.count(c.Usage)
	if c.Groq != nil {
		d.count(c.Groq.Usage)
	}
	for _, ch := range c.Choices {
		if ch.Index.N != 0 {
			continue // nobody asked for a second answer
		}
		d.answered = true
		if wire.Says(ch.Error) {
			return dst, d.o.source.InStream(ch.Error)
		}
		part := ch.Delta
		if part == nil {
			part = ch.Message
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
		} else if learn && len(c.Choices) == 1 && c.Usage == nil && part != nil {
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
		d.kept = wire.JoinFields(d.kept, p.kept)
	}
	for _, piece := range p.ToolCalls {
		d.progress = true
		if err := d.calls.Add(piece); err != nil {
			return dst, err
		}
	}
	if p.FunctionCall != nil {
		d.progress = true
		if err := d.calls.Add(wire.CallPiece{Function: p.FunctionCall}); err != nil {
			return dst, err
		}
	}
	if len(p.Annotations) > 0 {
		dst = append(dst, provider.Delta{Kind: provider.Annotations, Annotations: p.Annotations})
	}
	d.progress = d.progress || len(dst) > before
	return dst, nil
}

func (d *decoder) content(dst []provider.Delta, text string) []provider.Delta {
	if text != "" {
		dst = d.details.release(dst)
	}
	if d.think.Over() && text != "" {
		return append(dst, provider.Delta{Kind: provider.Content, Text: text})
	}
	return d.think.Add(dst, text)
}

// learn remembers a chunk that was one piece of text and nothing else.
func (d *decoder) learn(data []byte, p *delta, gave []provider.Delta) {
	if len(p.ToolCalls) > 0 || p.FunctionCall != nil || len(p.Details) > 0 || len(p.Annotations) > 0 || len(p.Refusal) > 0 || p.kept != nil {
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
	if u.PromptDetails != nil {
		d.usage.CacheWriteTokens = u.PromptDetails.Write.N
		if u.PromptDetails.Cached.Set {
			d.usage.CachedTokens = u.PromptDetails.Cached.N
		}
	}
	if u.CompletionDetails != nil {
		d.usage.ReasoningTokens = u.CompletionDetails.Reasoning.N
	}
}

// end closes a response that has ended: what was held back, the calls, meta.
func (d *decoder) end(dst []provider.Delta) ([]provider.Delta, error) {
	dst = d.details.release(d.think.End(dst))
	for _, note := range d.o.notes {
		dst = append(dst, provider.Delta{Kind: provider.Footnote, Text: note})
	}
	if d.kept != nil {
		dst = append(dst, provider.Delta{Kind: provider.ReasoningDetails, Details: keepFields(d.kept)})
	}
	reason := stopReason(d.finish)
	before := len(dst)
	dst, err := wire.FinishCalls(dst, d.calls.List(), wire.FinishOptions{
		Names: d.o.names, NewID: d.o.newID, Cut: reason == provider.StopLength, Extra: d.calls.Extra(),
	})
	if err != nil {
		return dst[:before], err
	}
	called := slices.ContainsFunc(dst[before:], func(d provider.Delta) bool { return d.Kind == provider.CallDelta })
	switch {
	case called:
		reason = provider.StopToolUse // some servers say stop, or length after a whole call
	case d.refused:
		reason = provider.StopRefusal
	case reason == provider.StopToolUse:
		reason = provider.StopEnd
	}
	if d.reasoning != "" && d.o.gave != nil {
		d.o.gave(d.reasoning)
	}
	return append(dst, provider.Delta{
		Kind: provider.Meta, Meta: &event.Meta{Usage: d.usage, StopReason: reason}, Field: d.reasoning,
	}), nil
}

// stopReason maps the finish reasons that servers give. A response that ended
// without one, by [DONE] alone, just stopped.
func stopReason(finish string) string {
	switch strings.ToLower(finish) {
	case "", "stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete", "completed", "done":
		return provider.StopEnd
	case "tool_calls", "tool_call", "function_call", "tool_use":
		return provider.StopToolUse
	case "length", "max_tokens", "max_output_tokens", "max_new_tokens", "model_length", "limit":
		return provider.StopLength
	case "content_filter", "safety", "refusal", "prohibited_content", "sensitive":
		return provider.StopRefusal
	}
	return provider.StopOther
}
