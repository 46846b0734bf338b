package mistral

import (
	"bytes"
	"crypto/rand"
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

// completion is one event's data, or a whole completion.
type completion struct {
	Object  string          `json:"object"`
	Error   json.RawMessage `json:"error"`
	Message json.RawMessage `json:"message"` // of an error
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
}

type choice struct {
	Index        wire.Int    `json:"index"`
	Delta        *delta      `json:"delta"`
	Message      *delta      `json:"message"`
	FinishReason wire.String `json:"finish_reason"`
}

type delta struct {
	Content   json.RawMessage `json:"content"`
	ToolCalls wire.CallPieces `json:"tool_calls"`
}

type usage struct {
	Prompt     wire.Int `json:"prompt_tokens"`
	Completion wire.Int `json:"completion_tokens"`
	// Cached tokens have been told in each of these places.
	Cached        wire.Int      `json:"num_cached_tokens"`
	PromptDetails *tokenDetails `json:"prompt_tokens_details"`
	PromptDetail  *tokenDetails `json:"prompt_token_details"`

	CompletionDetails *tokenDetails `json:"completion_tokens_details"`
}

type tokenDetails struct {
	Cached    wire.Int `json:"cached_tokens"`
	Reasoning wire.Int `json:"reasoning_tokens"`
}

// UnmarshalJSON ignores details of other forms.
func (t *tokenDetails) UnmarshalJSON(b []byte) error {
	type plain tokenDetails
	var v plain
	if wire.Lenient(b, &v) {
		*t = tokenDetails(v)
	}
	return nil
}

type decoderOptions struct {
	source wire.Source
	names  *provider.Names
	notes  []string      // footnotes of the request
	newID  func() string // nil is newID
}

// newID makes an id for a call that came without one, as the API would.
func newID() string { return rand.Text()[:idLength] }

// idLength is how long the API wants ids.
const idLength = 9

// decoder reads one response.
type decoder struct {
	o      decoderOptions
	events *sse.Reader
	whole  io.Reader // a body that is no stream, before it is read

	text     wire.Template // events that hold a piece of content and no more
	halves   wire.Halves
	thoughts thoughtChunks
	calls    wire.Calls
	finish   string // the finish reason, once it came
	answered bool   // a choice came
	usage    *event.Usage
	progress bool
}

// newDecoder makes the reader of a response with this Content-Type.
func newDecoder(body io.Reader, contentType string, o decoderOptions) (*decoder, error) {
	if o.newID == nil {
		o.newID = newID
	}
	if o.names == nil {
		o.names = provider.NewNames()
	}
	d := &decoder{o: o}
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
	d.events = sse.NewReader(body, sse.Options{Open: true})
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
	if dst, err = d.completion(dst, body, false); err != nil {
		return false, dst, err
	}
	if !d.answered {
		return false, dst, inStream(d.o.source, body) // an error of yet another form
	}
	dst, err = d.end(dst)
	return err == nil, dst, err
}

// event takes one event. done tells that the response has ended.
func (d *decoder) event(dst []provider.Delta, e sse.Event) (_ []provider.Delta, done bool, err error) {
	e.Data = d.halves.Join(e.Data)
	if !e.Open && e.Name != "error" {
		if text, ok := d.text.Match(e.Data); ok {
			return d.content(dst, text), false, nil
		}
	}
	data := bytes.TrimSpace(e.Data)
	switch {
	case len(data) == 0 || data[0] == ':':
		return dst, false, nil // a keep-alive that should have been a comment
	case string(data) == "[DONE]":
		dst, err = d.end(dst)
		return dst, true, err
	case e.Name == "error":
		return dst, false, inStream(d.o.source, data)
	case e.Open && !json.Valid(data):
		return dst, false, nil // what the cut left of an event; the end comes next
	}
	dst, err = d.completion(dst, data, true)
	return dst, false, err
}

// completion takes one piece of a completion, or all of it. learn has the next
// ones that are like it recognised.
func (d *decoder) completion(dst []provider.Delta, data []byte, learn bool) ([]provider.Delta, error) {
	var c completion
	if err := json.Unmarshal(data, &c); err != nil {
		return dst, &wire.FormatError{Chunk: bytes.Clone(data), Err: err}
	}
	if wire.Says(c.Error) || strings.EqualFold(c.Object, "error") || len(c.Choices) == 0 && wire.Says(c.Message) {
		return dst, inStream(d.o.source, data)
	}
	d.count(c.Usage)
	for _, ch := range c.Choices {
		if ch.Index.N != 0 {
			continue // nobody asked for a second answer
		}
		d.answered = true
		part := ch.Delta
		if part == nil {
			part = ch.Message
		}
		if part != nil {
			var text string
			var err error
			if dst, text, err = d.delta(dst, part); err != nil {
				return dst, err
			}
			if learn && text != "" && len(c.Choices) == 1 && ch.FinishReason == "" && c.Usage == nil {
				d.text.Learn(data, "content", text, "p") // p is padding against guessing text by its length
			}
		}
		if ch.FinishReason == "error" {
			return dst, d.o.source.InStream([]byte(`{"message":"the provider stopped with an error"}`))
		}
		if ch.FinishReason != "" {
			d.finish = string(ch.FinishReason)
		}
	}
	return dst, nil
}

// delta takes what a piece adds to the answer. text is set where that is one
// piece of text and nothing else.
func (d *decoder) delta(dst []provider.Delta, p *delta) (_ []provider.Delta, text string, err error) {
	pieces, err := readContent(p.Content)
	if err != nil {
		return dst, "", &wire.FormatError{Chunk: bytes.Clone(p.Content), Err: err}
	}
	for _, c := range pieces {
		if c.thinking == nil {
			dst = d.content(dst, c.text)
		} else if dst, err = d.think(dst, c); err != nil {
			return dst, "", err
		}
	}
	for _, call := range p.ToolCalls {
		d.progress = true
		if call.ID == "null" {
			call.ID = "" // what the API's own clients send for none
		}
		if err := d.calls.Add(call); err != nil {
			return dst, "", err
		}
	}
	if len(pieces) == 1 && pieces[0].thinking == nil && len(p.ToolCalls) == 0 {
		text = pieces[0].text
	}
	return dst, text, nil
}

func (d *decoder) content(dst []provider.Delta, text string) []provider.Delta {
	if text == "" {
		return dst
	}
	d.progress = true
	return append(d.thoughts.release(dst), provider.Delta{Kind: provider.Content, Text: text})
}

// think takes a chunk of thinking.
func (d *decoder) think(dst []provider.Delta, c contentPiece) ([]provider.Delta, error) {
	d.progress = true
	text, err := d.thoughts.add(c)
	if text != "" {
		dst = append(dst, provider.Delta{Kind: provider.Reasoning, Text: text})
	}
	return dst, err
}

func (d *decoder) count(u *usage) {
	if u == nil || !u.Prompt.Set && !u.Completion.Set {
		return
	}
	d.usage = &event.Usage{InputTokens: u.Prompt.N, OutputTokens: u.Completion.N, CachedTokens: u.Cached.N}
	for _, details := range []*tokenDetails{u.PromptDetails, u.PromptDetail} {
		if details != nil && d.usage.CachedTokens == 0 {
			d.usage.CachedTokens = details.Cached.N
		}
	}
	if u.CompletionDetails != nil {
		d.usage.ReasoningTokens = u.CompletionDetails.Reasoning.N
	}
}

// end closes a response that has ended: what was held back, the calls, meta.
func (d *decoder) end(dst []provider.Delta) ([]provider.Delta, error) {
	dst = d.thoughts.release(dst)
	for _, note := range d.o.notes {
		dst = append(dst, provider.Delta{Kind: provider.Footnote, Text: note})
	}
	reason := stopReason(d.finish)
	before := len(dst)
	dst, err := wire.FinishCalls(dst, d.calls.List(), wire.FinishOptions{
		Names: d.o.names, NewID: d.o.newID, Cut: reason == provider.StopLength,
	})
	if err != nil {
		return dst[:before], err
	}
	called := slices.ContainsFunc(dst[before:], func(d provider.Delta) bool { return d.Kind == provider.CallDelta })
	switch {
	case called:
		reason = provider.StopToolUse
	case reason == provider.StopToolUse:
		reason = provider.StopEnd
	}
	return append(dst, provider.Delta{Kind: provider.Meta, Meta: &event.Meta{Usage: d.usage, StopReason: reason}}), nil
}

// stopReason maps the finish reasons. A response that ended without one, by
// [DONE] alone, just stopped.
func stopReason(finish string) string {
	switch strings.ToLower(finish) {
	case "", "stop":
		return provider.StopEnd
	case "tool_calls":
		return provider.StopToolUse
	case "length", "model_length":
		return provider.StopLength
	case "content_filter", "guardrail", "guardrails":
		return provider.StopRefusal
	}
	return provider.StopOther
}
