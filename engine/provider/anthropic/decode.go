package anthropic

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// streamEvent is one event's data, or a whole message from a server that
// doesn't stream. Only what an answer consists of has to be of the documented
// form.
type streamEvent struct {
	Type    wire.String       `json:"type"`
	Index   wire.Int          `json:"index"`
	Message wire.Maybe[head]  `json:"message"`
	Block   json.RawMessage   `json:"content_block"`
	Delta   *delta            `json:"delta"`
	Usage   wire.Maybe[usage] `json:"usage"`

	Content    wire.List[json.RawMessage] `json:"content"` // of a whole message
	StopReason wire.String                `json:"stop_reason"`
	Details    wire.Maybe[stopDetails]    `json:"stop_details"`
}

// head is the message as it begins.
type head struct {
	Usage wire.Maybe[usage] `json:"usage"`
}

type delta struct {
	Type        wire.String     `json:"type"`
	Text        string          `json:"text"`
	Thinking    json.RawMessage `json:"thinking"`
	Signature   json.RawMessage `json:"signature"`
	PartialJSON string          `json:"partial_json"`
	Citation    json.RawMessage `json:"citation"`

	StopReason wire.String             `json:"stop_reason"` // of a message_delta
	Details    wire.Maybe[stopDetails] `json:"stop_details"`
}

type stopDetails struct {
	Category    wire.String `json:"category"`
	Explanation wire.String `json:"explanation"`
}

// usage counts from the beginning of the message; later counts replace earlier
// ones.
type usage struct {
	Input       wire.Int                `json:"input_tokens"`
	Output      wire.Int                `json:"output_tokens"`
	CacheWrite  wire.Int                `json:"cache_creation_input_tokens"`
	CacheRead   wire.Int                `json:"cache_read_input_tokens"`
	OutputParts wire.Maybe[outputParts] `json:"output_tokens_details"`
}

type outputParts struct {
	Thinking wire.Int `json:"thinking_tokens"`
}

type decoderOptions struct {
	source wire.Source
	names  *provider.Names
	notes  []provider.Note // footnotes of the request
	answer *answerTool     // where the answer comes as a call
	newID  func() string   // nil is wire.NewCallID
}

// decoder reads one response.
type decoder struct {
	o      decoderOptions
	events *wire.Events

	text     wire.Template // events that hold a piece of text, while a block is open
	halves   wire.Halves
	blocks   blocks
	said     strings.Builder // text that waits, where the answer may come as a call
	usage    usage
	counted  bool
	any      bool   // text came
	stop     string // the stop reason, once it came
	details  *stopDetails
	progress bool
}

// newDecoder makes the reader of a response.
func newDecoder(body io.Reader, o decoderOptions) *decoder {
	if o.newID == nil {
		o.newID = wire.NewCallID
	}
	if o.names == nil {
		o.names = provider.NewNames()
	}
	return &decoder{o: o, events: wire.NewEvents(body, wire.EventsOptions{Source: o.source, Page: "is the address right?"})}
}

// Read takes what one network read brought.
func (d *decoder) Read(dst []provider.Delta) (wire.Read, error) {
	d.progress = false
	return d.events.Read(dst, d)
}

// State reports what the last events brought; see wire.Format.
func (d *decoder) State() (progress, finished bool) { return d.progress, d.stop != "" }

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
	kind := string(ev.Type)
	if kind == "" && !e.Whole {
		kind = e.Name
	}
	switch said := wire.ErrorIn(data); {
	case e.Whole && said != nil && kind != "error":
		return dst, false, d.o.source.InBody(said)
	case kind == "error":
		return dst, false, inStream(d.o.source, data)
	case said != nil:
		return dst, false, inStream(d.o.source, said)
	case e.Whole && (kind == "message" || kind == "" && len(ev.Content) > 0):
		return d.message(dst, &ev)
	}
	known := false
	if dst, known, done, err = d.take(dst, kind, &ev, data); e.Whole && !known && err == nil {
		err = d.o.source.InBody(data)
	}
	return dst, done, err
}

// message takes a whole message.
func (d *decoder) message(dst []provider.Delta, ev *streamEvent) (_ []provider.Delta, done bool, err error) {
	d.count(ev.Usage.Ref())
	for i, raw := range ev.Content {
		at := wire.Int{N: int64(i), Set: true}
		if dst, err = d.start(dst, at, raw); err != nil {
			return dst, false, err
		}
		d.close(at)
	}
	d.stopFor(ev.StopReason, ev.Details.Ref())
	dst, err = d.End(dst)
	return dst, err == nil, err
}

// take takes an event of a kind; known reports whether the kind is one.
func (d *decoder) take(dst []provider.Delta, kind string, ev *streamEvent, data []byte) (_ []provider.Delta, known, done bool, err error) {
	switch kind {
	case "message_start":
		d.count(ev.Message.V.Usage.Ref())
	case "content_block_start":
		dst, err = d.start(dst, ev.Index, ev.Block)
	case "content_block_delta":
		dst, err = d.delta(dst, ev, data)
	case "content_block_stop":
		d.close(ev.Index)
	case "message_delta":
		d.count(ev.Usage.Ref())
		if ev.Delta != nil {
			d.stopFor(ev.Delta.StopReason, ev.Delta.Details.Ref())
		}
	case "message_stop":
		dst, err = d.End(dst)
		return dst, true, err == nil, err
	case "ping":
	default:
		return dst, false, false, nil
	}
	return dst, true, false, err
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
	d.any = true
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
	if u.OutputParts.Set {
		d.usage.OutputParts = u.OutputParts
	}
}

func (d *decoder) stopFor(reason wire.String, details *stopDetails) {
	if reason != "" {
		d.stop = string(reason)
	}
	if details != nil {
		d.details = details
	}
}
