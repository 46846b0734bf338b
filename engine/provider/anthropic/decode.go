package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
	"github.com/fettle-cli/fettle/internal/sse"
)

// streamEvent is one event's data, or a whole message from a server that
// doesn't stream.
type streamEvent struct {
	Type    string          `json:"type"`
	Index   wire.Int        `json:"index"`
	Message *head           `json:"message"`
	Block   json.RawMessage `json:"content_block"`
	Delta   *delta          `json:"delta"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`

	Content    []json.RawMessage `json:"content"` // of a whole message
	StopReason string            `json:"stop_reason"`
	Details    *stopDetails      `json:"stop_details"`
}

// head is the message as it begins.
type head struct {
	Usage *usage `json:"usage"`
}

type delta struct {
	Type        string          `json:"type"`
	Text        string          `json:"text"`
	Thinking    json.RawMessage `json:"thinking"`
	Signature   json.RawMessage `json:"signature"`
	PartialJSON string          `json:"partial_json"`
	Citation    json.RawMessage `json:"citation"`

	StopReason string       `json:"stop_reason"` // of a message_delta
	Details    *stopDetails `json:"stop_details"`
}

type stopDetails struct {
	Category    wire.String `json:"category"`
	Explanation wire.String `json:"explanation"`
}

// usage counts from the beginning of the message; later counts replace earlier
// ones.
type usage struct {
	Input       wire.Int `json:"input_tokens"`
	Output      wire.Int `json:"output_tokens"`
	CacheWrite  wire.Int `json:"cache_creation_input_tokens"`
	CacheRead   wire.Int `json:"cache_read_input_tokens"`
	OutputParts *struct {
		Thinking wire.Int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

type decoderOptions struct {
	source wire.Source
	names  *provider.Names
	notes  []string      // footnotes of the request
	answer *answerTool   // where the answer comes as a call
	newID  func() string // nil is wire.NewCallID
}

// decoder reads one response.
type decoder struct {
	o      decoderOptions
	events *sse.Reader
	whole  io.Reader // a body that is no stream, before it is read

	text     wire.Template // events that hold a piece of text, while a block is open
	halves   wire.Halves
	blocks   blocks
	said     strings.Builder // text that waits, where the answer may come as a call
	usage    usage
	counted  bool
	stop     string // the stop reason, once it came
	stopped  bool
	details  *stopDetails
	progress bool
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
	switch kind, _, _ := strings.Cut(strings.ToLower(contentType), ";"); strings.TrimSpace(kind) {
	case "text/html":
		head, _ := io.ReadAll(io.LimitReader(body, 512))
		return nil, &wire.FormatError{Chunk: head, Err: errors.New("it is a web page; is the address right?")}
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
	if err == io.EOF && d.stopped {
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
	var e streamEvent
	if err := json.Unmarshal(body, &e); err != nil {
		return false, dst, &wire.FormatError{Chunk: body, Err: err}
	}
	if e.Type != "message" {
		return false, dst, inStream(d.o.source, body)
	}
	d.count(e.Usage)
	for i, raw := range e.Content {
		at := wire.Int{N: int64(i), Set: true}
		if dst, err = d.start(dst, at, raw); err != nil {
			return false, dst, err
		}
		d.close(at)
	}
	d.stopFor(e.StopReason, e.Details)
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
	case len(data) == 0 || data[0] == ':' || string(data) == "[DONE]":
		return dst, false, nil // a keep-alive, or what another protocol ends with
	case e.Name == "error":
		return dst, false, inStream(d.o.source, data)
	case e.Open && !json.Valid(data):
		return dst, false, nil // what the cut left of an event; the end comes next
	}
	var ev streamEvent
	if err := json.Unmarshal(data, &ev); err != nil {
		return dst, false, &wire.FormatError{Chunk: bytes.Clone(data), Err: err}
	}
	kind := ev.Type
	if kind == "" {
		kind = e.Name
	}
	if kind == "error" || wire.Says(ev.Error) {
		return dst, false, inStream(d.o.source, data)
	}
	return d.take(dst, kind, &ev, data)
}

// take takes an event of a kind.
func (d *decoder) take(dst []provider.Delta, kind string, ev *streamEvent, data []byte) (_ []provider.Delta, done bool, err error) {
	switch kind {
	case "message_start":
		if ev.Message != nil {
			d.count(ev.Message.Usage)
		}
	case "content_block_start":
		dst, err = d.start(dst, ev.Index, ev.Block)
	case "content_block_delta":
		dst, err = d.delta(dst, ev, data)
	case "content_block_stop":
		d.close(ev.Index)
	case "message_delta":
		d.count(ev.Usage)
		if ev.Delta != nil {
			d.stopFor(ev.Delta.StopReason, ev.Delta.Details)
		}
	case "message_stop":
		dst, err = d.end(dst)
		return dst, true, err
	}
	return dst, false, err
}

// start begins a block. Its first piece may be in it.
func (d *decoder) start(dst []provider.Delta, at wire.Int, raw json.RawMessage) ([]provider.Delta, error) {
	d.close(at) // one that was never closed
	first, err := d.blocks.start(at, raw)
	if err != nil {
		return dst, err
	}
	d.progress = true
	return d.piece(dst, first), nil
}

// delta takes a piece of a block.
func (d *decoder) delta(dst []provider.Delta, ev *streamEvent, data []byte) ([]provider.Delta, error) {
	if ev.Delta == nil {
		return dst, nil
	}
	d.progress = true
	p, err := d.blocks.add(ev.Index, ev.Delta)
	if err != nil {
		return dst, err
	}
	dst = d.piece(dst, p)
	if p.text != "" && ev.Delta.Text == p.text {
		d.text.Learn(data, "text", p.text)
	}
	return dst, nil
}

// close ends a block.
func (d *decoder) close(at wire.Int) {
	d.text = wire.Template{}
	d.blocks.close(at)
}

// piece hands on a piece of a block.
func (d *decoder) piece(dst []provider.Delta, p piece) []provider.Delta {
	if p.text != "" {
		dst = d.content(dst, p.text)
	}
	if p.thought != "" {
		dst = append(d.blocks.release(dst), provider.Delta{Kind: provider.Reasoning, Text: p.thought})
	}
	if len(p.citation) > 0 && p.citation[0] == '{' {
		dst = append(dst, provider.Delta{Kind: provider.Annotations, Annotations: []json.RawMessage{bytes.Clone(p.citation)}})
	}
	return dst
}

// content hands on text, or keeps it where a call may turn out to be the
// answer.
func (d *decoder) content(dst []provider.Delta, text string) []provider.Delta {
	d.progress = true
	if text == "" {
		return dst
	}
	if d.o.answer != nil {
		if d.said.Len() < wire.MaxBody { // what is longer is no answer to a schema
			d.said.WriteString(text)
		}
		return dst
	}
	d.blocks.markText()
	return append(d.blocks.release(dst), provider.Delta{Kind: provider.Content, Text: text})
}

func (d *decoder) count(u *usage) {
	if u == nil {
		return
	}
	for _, c := range []struct{ to, from *wire.Int }{
		{&d.usage.Input, &u.Input}, {&d.usage.Output, &u.Output},
		{&d.usage.CacheWrite, &u.CacheWrite}, {&d.usage.CacheRead, &u.CacheRead},
	} {
		if c.from.Set {
			*c.to = *c.from
			d.counted = true
		}
	}
	if u.OutputParts != nil {
		d.usage.OutputParts = u.OutputParts
	}
}

func (d *decoder) stopFor(reason string, details *stopDetails) {
	if reason != "" {
		d.stop, d.stopped = reason, true
	}
	if details != nil {
		d.details = details
	}
}
