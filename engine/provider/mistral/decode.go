package mistral

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// completion is one event's data, or a whole completion. Only what an answer
// consists of has to be of the documented form.
type completion struct {
	Object  wire.String       `json:"object"`
	Message json.RawMessage   `json:"message"` // of an error
	Choices wire.List[choice] `json:"choices"`
	Usage   wire.Maybe[usage] `json:"usage"`
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
	// Cached tokens have been counted in each of these places.
	Cached        wire.Int                 `json:"num_cached_tokens"`
	PromptDetails wire.Maybe[tokenDetails] `json:"prompt_tokens_details"`
	PromptDetail  wire.Maybe[tokenDetails] `json:"prompt_token_details"`

	CompletionDetails wire.Maybe[tokenDetails] `json:"completion_tokens_details"`
}

type tokenDetails struct {
	Cached    wire.Int `json:"cached_tokens"`
	Reasoning wire.Int `json:"reasoning_tokens"`
}

type decoderOptions struct {
	source wire.Source
	names  *provider.Names
	notes  []provider.Note // footnotes of the request
	newID  func() string   // nil is newID
}

// newID makes an id for a call that came without one, as the API would.
func newID() string { return rand.Text()[:idLength] }

// idLength is how long the API wants ids.
const idLength = 9

// decoder reads one response.
type decoder struct {
	o      decoderOptions
	events *wire.Events

	text     wire.Template // events that hold a piece of content and no more
	halves   wire.Halves
	thoughts thoughtChunks
	calls    wire.Calls
	finish   string // the finish reason, once it came
	answered bool   // a choice came
	message  bool   // and was a whole message
	said     bool   // text came
	usage    *event.Usage
	progress bool
}

// newDecoder makes the reader of a response.
func newDecoder(body io.Reader, o decoderOptions) *decoder {
	if o.newID == nil {
		o.newID = newID
	}
	if o.names == nil {
		o.names = provider.NewNames()
	}
	return &decoder{o: o, events: wire.NewEvents(body, wire.EventsOptions{
		Source: o.source, Page: "is the address right, up to its /v1?",
	})}
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
	if !e.Open && !e.Whole && e.Name != "error" {
		if text, ok := d.text.Match(e.Data); ok {
			return d.content(dst, text), false, nil
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
		return dst, false, inStream(d.o.source, data)
	case e.Open && !json.Valid(data):
		return dst, false, nil // what the cut left of an event; the end comes next
	}
	if dst, err = d.completion(dst, data, !e.Whole); err != nil || !e.Whole {
		return dst, false, err
	}
	switch {
	case !d.answered:
		return dst, false, inBody(d.o.source, data) // an error of yet another form
	case d.message:
		dst, err = d.End(dst)
	}
	return dst, d.message, err
}

// completion takes one piece of a completion, or all of it. learn has the next
// ones that are like it recognised.
func (d *decoder) completion(dst []provider.Delta, data []byte, learn bool) ([]provider.Delta, error) {
	var c completion
	if err := json.Unmarshal(data, &c); err != nil {
		return dst, &wire.FormatError{Chunk: bytes.Clone(data), Err: err}
	}
	said := wire.ErrorIn(data)
	if said == nil && (strings.EqualFold(string(c.Object), "error") || len(c.Choices) == 0 && wire.Says(c.Message)) {
		said = data
	}
	switch {
	case said != nil && !learn && !d.answered:
		return dst, inBody(d.o.source, said)
	case said != nil:
		return dst, inStream(d.o.source, said)
	}
	d.count(c.Usage.Ref())
	for _, ch := range c.Choices {
		if ch.Index.N != 0 {
			continue // nobody asked for a second answer
		}
		d.answered = true
		part := ch.Delta
		if part == nil && ch.Message != nil {
			part, d.message = ch.Message, true
		}
		if part != nil {
			var text string
			var err error
			if dst, text, err = d.delta(dst, part); err != nil {
				return dst, err
			}
			if learn && text != "" && len(c.Choices) == 1 && ch.FinishReason == "" && !c.Usage.Set {
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
	d.progress, d.said = true, true
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
	for _, details := range []tokenDetails{u.PromptDetails.V, u.PromptDetail.V} {
		if d.usage.CachedTokens == 0 {
			d.usage.CachedTokens = details.Cached.N
		}
	}
	d.usage.ReasoningTokens = u.CompletionDetails.V.Reasoning.N
}

// Unfinished reports whether the arguments of a call are only a beginning.
func (d *decoder) Unfinished() bool { return wire.Unfinished(d.calls.List()) }

// End closes a response that has ended: what was held back, the calls, meta.
func (d *decoder) End(dst []provider.Delta) ([]provider.Delta, error) {
	before := len(dst)
	dst = d.thoughts.release(dst)
	dst = wire.Footnotes(dst, d.o.notes)
	dst = wire.FinishCalls(dst, d.calls.List(), wire.FinishOptions{
		Names: d.o.names, NewID: d.o.newID, Cut: wire.StopReason(d.finish) == provider.StopLength,
	})
	out, err := wire.Ending{Finish: d.finish, Usage: d.usage}.Close(dst[before:], d.o.source, d.said)
	return append(dst[:before], out...), err
}
