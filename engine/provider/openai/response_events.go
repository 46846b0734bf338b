package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// responseEvent is one event's data, or a whole response from a server that does not stream.
// Only what an answer consists of has to be of the documented form.
type responseEvent struct {
	Type       wire.String                 `json:"type"`
	Index      wire.Int                    `json:"output_index"`
	ItemID     wire.String                 `json:"item_id"`
	Part       wire.Int                    `json:"content_index"`
	Summary    wire.Int                    `json:"summary_index"`
	Delta      wire.Maybe[wire.Content]    `json:"delta"`
	Text       wire.Maybe[wire.Content]    `json:"text"`
	Refusal    wire.Maybe[wire.Content]    `json:"refusal"`
	Arguments  json.RawMessage             `json:"arguments"`
	Name       wire.String                 `json:"name"`
	Item       json.RawMessage             `json:"item"`
	Annotation json.RawMessage             `json:"annotation"`
	Response   wire.Maybe[responseObject]  `json:"response"`
	Choices    wire.Maybe[json.RawMessage] `json:"choices"` // of a chat completion
}

// responseObject is a response as the last event has it.
type responseObject struct {
	Status     wire.String                            `json:"status"`
	Error      json.RawMessage                        `json:"error"`
	Incomplete wire.Maybe[incompleteDetails]          `json:"incomplete_details"`
	Output     wire.Maybe[wire.List[json.RawMessage]] `json:"output"`
	Usage      wire.Maybe[responseUsage]              `json:"usage"`
	ErrorType  wire.Maybe[string]                     `json:"error_type"` // OpenRouter's
}

type incompleteDetails struct {
	Reason wire.String `json:"reason"`
}

type responseUsage struct {
	Input         wire.Int                                      `json:"input_tokens"`
	Output        wire.Int                                      `json:"output_tokens"`
	InputDetails  wire.Maybe[chatcompletions.PromptDetails]     `json:"input_tokens_details"`
	OutputDetails wire.Maybe[chatcompletions.CompletionDetails] `json:"output_tokens_details"`
}

// responseDecoder reads one response of the Responses API.
type responseDecoder struct {
	o      chatcompletions.DecoderOptions
	events *wire.Events
	halves wire.Halves
	think  wire.Thinking
	same   wire.Template // events that are like the last one, a piece of an item
	piece  itemPiece     // what the last one was

	items    []*outputItem
	texts    int          // messages that have text
	thought  bool         // reasoning was handed on
	entries  []itemEntry  // that have not been handed on, see typeItem
	kept     int          // the size of all entries
	finish   string       // what the response came to, once it has ended
	said     bool         // text came
	refused  bool         // the model declined in a field of its own
	usage    *event.Usage // nil where none came
	progress bool
}

// newResponseDecoder makes the reader of a response.
func newResponseDecoder(body io.Reader, o chatcompletions.DecoderOptions) *responseDecoder {
	o = o.OrDefault()
	d := &responseDecoder{o: o, events: wire.NewEvents(body, wire.EventsOptions{
		Source: o.Source, Page: "is the address right, up to its /v1?",
	})}
	d.think.Begin(o.ThoughtEnd)
	return d
}

// Read takes what one network read brought.
func (d *responseDecoder) Read(dst []provider.Delta) (wire.Read, error) {
	d.progress = false
	return d.events.Read(dst, d)
}

// State reports what the last events brought; see wire.Format. The event with the finish reason
// is the last one, so that chatcompletions.Nothing is awaited after it.
func (d *responseDecoder) State() (progress, finished bool) { return d.progress, false }

// Take takes one event; see wire.Format.
func (d *responseDecoder) Take(dst []provider.Delta, e wire.Event) (_ []provider.Delta, done bool, err error) {
	e.Data = d.halves.Join(e.Data)
	if !e.Open && !e.Whole && e.Name != "error" {
		if text, ok := d.same.Match(e.Data); ok {
			d.piece.text = text
			dst, err = d.add(dst, d.piece)
			return dst, false, err
		}
	}
	d.same = wire.Template{}
	data := bytes.TrimSpace(e.Data)
	switch {
	case len(data) == 0 || data[0] == ':':
		return dst, false, nil // a keep-alive that should have been a comment
	case string(data) == "[DONE]" && len(d.items) == 0:
		return dst, false, nil // the end of the body comes next, and is a cut
	case string(data) == "[DONE]":
		dst, err = d.End(dst)
		return dst, err == nil, err
	case e.Name == "error":
		return dst, false, d.o.Source.InStream(data)
	case e.Open && !json.Valid(data):
		return dst, false, nil // what the cut left of an event; the end comes next
	}
	var ev responseEvent
	if err := json.Unmarshal(data, &ev); err != nil {
		return dst, false, &wire.FormatError{Chunk: bytes.Clone(data), Err: err}
	}
	kind := string(ev.Type)
	if kind == "" && !e.Whole && e.Name != "message" {
		kind = e.Name
	}
	switch said := d.errorIn(kind, data); {
	case said != nil && e.Whole && len(d.items) == 0:
		return dst, false, d.o.Source.InBody(said)
	case said != nil:
		return dst, false, d.o.Source.InStream(said)
	case ev.Choices.Set && kind == "":
		return dst, false, &wire.FormatError{Err: errors.New("it is a chat completion, which is another API")}
	case e.Whole && kind == "":
		return d.whole(dst, data)
	}
	if p, ok := d.pieceOf(kind, &ev); ok {
		dst, err = d.add(dst, p)
		if !e.Whole {
			d.piece = p
			d.same.Learn(data, "delta", p.text, "sequence_number", "obfuscation")
		}
	} else {
		dst, done, err = d.take(dst, kind, &ev)
	}
	if err == nil && len(d.items) > maxItems {
		err = &wire.FormatError{Err: errors.New("its items have no end")}
	}
	return dst, done, err
}

// errorIn returns the error that an event reports, or nil. Items and responses have error
// fields of their own, which do not report an error of the stream.
func (d *responseDecoder) errorIn(kind string, data []byte) json.RawMessage {
	switch {
	case kind == "error":
		return data
	case kind == "" || !strings.HasPrefix(kind, "response."):
		var fields struct {
			Object wire.String `json:"object"`
		}
		switch wire.Lenient(data, &fields); fields.Object {
		case "response":
			return nil // a whole response, whose status decides
		case "error":
			return data
		}
		return wire.ErrorIn(data)
	}
	return nil
}

// whole takes a response that came without a stream around it.
func (d *responseDecoder) whole(dst []provider.Delta, data []byte) (_ []provider.Delta, done bool, err error) {
	var r responseObject
	if !wire.Lenient(data, &r) || !r.Output.Set && r.Status == "" {
		return dst, false, d.o.Source.InBody(data) // an error of yet another form
	}
	return d.ended(dst, string(r.Status), &r)
}

// pieceOf returns the piece of an item that an event of a kind is; ok is false for other kinds.
func (d *responseDecoder) pieceOf(kind string, ev *responseEvent) (p itemPiece, ok bool) {
	switch kind {
	case "response.refusal.delta", "response.output_text.delta":
		d.refused = d.refused || kind == "response.refusal.delta"
		p.of = d.at(ev, itemMessage)
	case "response.reasoning_summary_text.delta":
		p = itemPiece{of: d.at(ev, itemReasoning), part: ev.Summary.N, summary: true}
	case "response.reasoning_text.delta", "response.reasoning.delta":
		p = itemPiece{of: d.at(ev, itemReasoning), part: ev.Part.N}
	case "response.function_call_arguments.delta":
		p.of = d.at(ev, itemCall)
	default:
		return p, false
	}
	p.text = joinText(ev.Delta.V)
	return p, true
}

// add adds a piece to its item, and hands on what can be shown of it.
func (d *responseDecoder) add(dst []provider.Delta, p itemPiece) ([]provider.Delta, error) {
	switch p.of.kind {
	case itemMessage:
		return d.text(dst, p.of, p.text), nil
	case itemReasoning:
		return d.reason(dst, p), nil
	}
	d.progress = true
	return dst, p.of.addArguments(p.text)
}

// take takes an event of a kind. Other kinds are about tools that run at the server, or are
// newer than this reader.
func (d *responseDecoder) take(dst []provider.Delta, kind string, ev *responseEvent) (_ []provider.Delta, done bool, err error) {
	switch kind {
	case "response.output_item.added":
		d.open(ev)
	case "response.output_text.done":
		dst = d.rest(dst, d.at(ev, itemMessage), ev.Text.V)
	case "response.refusal.done":
		d.refused = true
		dst = d.rest(dst, d.at(ev, itemMessage), ev.Refusal.V)
	case "response.function_call_arguments.done":
		err = d.at(ev, itemCall).allArguments(ev.Arguments, string(ev.Name))
		d.progress = true
	case "response.output_text.annotation.added":
		if len(ev.Annotation) > 0 && ev.Annotation[0] == '{' {
			d.progress = true
			dst = append(dst, provider.Delta{Kind: provider.Annotations, Annotations: []json.RawMessage{bytes.Clone(ev.Annotation)}})
		}
	case "response.output_item.done":
		dst, err = d.close(dst, d.closing(ev), ev.Item)
	case "response.completed", "response.done", "response.incomplete", "response.failed", "response.cancelled":
		return d.ended(dst, strings.TrimPrefix(kind, "response."), &ev.Response.V)
	}
	return dst, false, err
}

// ended takes the response of the last event. What was not streamed of it is handed on now.
func (d *responseDecoder) ended(dst []provider.Delta, status string, r *responseObject) (_ []provider.Delta, done bool, err error) {
	if r.Status == "failed" || r.Status == "incomplete" || r.Status == "cancelled" {
		status = string(r.Status)
	}
	if u := r.Usage.Ref(); u != nil && (u.Input.Set || u.Output.Set) {
		d.usage = &event.Usage{
			InputTokens: u.Input.N, OutputTokens: u.Output.N, CachedTokens: u.InputDetails.V.Cached.N,
			CacheWriteTokens: u.InputDetails.V.Write.N, ReasoningTokens: u.OutputDetails.V.Reasoning.N,
		}
	}
	switch {
	case status == "failed" || status == "cancelled" || wire.Says(r.Error):
		return dst, false, d.failed(r)
	case status == "queued" || status == "in_progress":
		return dst, false, d.o.Source.InStream([]byte(`{"message":"the server sent a response that it has not finished"}`))
	case status == "incomplete":
		d.finish = "incomplete"
		if r.Incomplete.V.Reason != "" {
			d.finish = string(r.Incomplete.V.Reason)
		}
	default:
		d.finish = "completed"
	}
	if dst, err = d.remaining(dst, r.Output.V); err != nil {
		return dst, false, err
	}
	dst, err = d.End(dst)
	return dst, err == nil, err
}

// failed is the error of a response that the server has given up. A code that is about the
// request itself is an error that no retry mends.
func (d *responseDecoder) failed(r *responseObject) error {
	raw := r.Error
	if !wire.Says(raw) {
		raw = []byte(`{"message":"the response has failed, and the server gives no reason"}`)
	}
	e := d.o.Source.InStream(raw)
	if r.ErrorType.V != "" { // which is more exact than the code
		typed, _ := wire.Marshal(map[string]any{"error_type": r.ErrorType.V, "error": raw})
		e = d.o.Source.InStream(typed)
		if r.ErrorType.V == "authentication" || r.ErrorType.V == "permission_denied" {
			e.Kind = provider.Unauthorised
		}
	}
	var about struct {
		Code wire.String `json:"code"`
	}
	if wire.Lenient(raw, &about) && e.Kind == provider.Broken {
		switch code := string(about.Code); {
		case code == "", strings.HasSuffix(code, "_timeout"), strings.HasPrefix(code, "upstream"):
		default:
			e.Kind = provider.Rejected
		}
	}
	return e
}

// End closes a response that has ended: what was held back, the calls, meta.
func (d *responseDecoder) End(dst []provider.Delta) ([]provider.Delta, error) {
	before := len(dst)
	dst = d.think.End(dst)
	d.sort()
	for len(d.entries) > 0 && d.entries[len(d.entries)-1].Type == typeCall {
		d.entries = d.entries[:len(d.entries)-1] // calls come last anyway
	}
	dst = d.release(dst)
	dst = wire.Footnotes(dst, d.o.Notes)
	calls := d.calls()
	if len(calls) > wire.MaxCalls {
		return dst, &wire.FormatError{Err: errors.New("it calls tools without end")}
	}
	dst = wire.FinishCalls(dst, calls, wire.FinishOptions{
		Names: d.o.Names, NewID: d.o.NewID, Cut: wire.StopReason(d.finish) == provider.StopLength,
	})
	out, err := wire.Ending{Finish: d.finish, Refused: d.refused, Usage: d.usage}.Close(dst[before:], d.o.Source, d.said)
	return append(dst[:before], out...), err
}
