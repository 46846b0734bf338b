package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// maxItems bounds the items of one response; a stream with more is broken.
const maxItems = 1024

// outputItem is an item of a response of which not all may have come.
type outputItem struct {
	kind  string
	index wire.Int
	id    string // of the item, which some servers change from event to event
	added bool   // by an event of its own
	done  bool

	text    strings.Builder // that was handed on
	part    int64           // the part of the reasoning that came last
	summary bool            // the reasoning that is handed on is its summary

	callID string
	given  string // the call's id as the server gave it
	name   string
	args   bytes.Buffer
	extra  json.RawMessage // further members of a call or a message
	kept   bool            // an entry was kept for it
}

// itemData is an item as an event has it.
type itemData struct {
	Type      wire.String                            `json:"type"`
	ID        wire.String                            `json:"id"`
	CallID    wire.String                            `json:"call_id"`
	Name      wire.String                            `json:"name"`
	Arguments json.RawMessage                        `json:"arguments"`
	Content   wire.Maybe[wire.List[json.RawMessage]] `json:"content"`
	Summary   wire.Maybe[wire.Content]               `json:"summary"`
	Encrypted wire.Maybe[string]                     `json:"encrypted_content"`
}

// itemPiece is a piece of an item. Reasoning consists of parts, of its summary or of its own.
type itemPiece struct {
	of      *outputItem
	text    string
	part    int64
	summary bool
}

func joinText(pieces wire.Content) string {
	if len(pieces) == 1 { // as nearly always
		return pieces[0].Text
	}
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}

// text hands on a piece of a message.
func (d *responseDecoder) text(dst []provider.Delta, it *outputItem, text string) []provider.Delta {
	if text == "" {
		return dst
	}
	d.progress = true
	if it.text.Len() == 0 {
		if d.texts++; d.texts > 1 {
			if !slices.ContainsFunc(d.entries, func(e itemEntry) bool { return e.Type != typeCall }) {
				d.keep(it, itemEntry{Type: typeMessage}) // where one message ends and the next begins
			}
			dst = d.content(dst, messageBreak)
		}
	}
	it.text.WriteString(text)
	return d.content(dst, text)
}

func (d *responseDecoder) content(dst []provider.Delta, text string) []provider.Delta {
	d.said = true
	dst = d.release(dst)
	if d.think.Over() {
		return append(dst, provider.Delta{Kind: provider.Content, Text: text})
	}
	return d.think.Add(dst, text)
}

// rest hands on what was not streamed of a message's text.
func (d *responseDecoder) rest(dst []provider.Delta, it *outputItem, all wire.Content) []provider.Delta {
	text := joinText(all)
	if had := it.text.String(); strings.HasPrefix(text, had) && len(text) > len(had) {
		return d.text(dst, it, text[len(had):])
	}
	return dst
}

// reason hands on a piece of reasoning: of the summary, or of the reasoning itself from a
// server that shows it. Where both come, it is the one that comes first.
func (d *responseDecoder) reason(dst []provider.Delta, p itemPiece) []provider.Delta {
	it := p.of
	if p.text == "" || it.text.Len() > 0 && it.summary != p.summary {
		return dst
	}
	d.progress = true
	d.think.Off()
	if d.thought && (it.text.Len() == 0 || it.part != p.part) {
		dst = append(dst, provider.Delta{Kind: provider.Reasoning, Text: messageBreak})
	}
	it.part, it.summary, d.thought = p.part, p.summary, true
	it.text.WriteString(p.text)
	return append(dst, provider.Delta{Kind: provider.Reasoning, Text: p.text})
}

// addArguments adds a piece of a call's arguments.
func (it *outputItem) addArguments(text string) error {
	it.args.WriteString(text)
	if it.args.Len() > wire.MaxBody {
		return &wire.FormatError{Err: errors.New("a tool call is longer than 16 MiB")}
	}
	return nil
}

// allArguments takes the arguments as they came at the end, which count more than the pieces.
// Some servers send an object instead of its text.
func (it *outputItem) allArguments(raw json.RawMessage, name string) error {
	if it.name == "" {
		it.name = name
	}
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null" || string(raw) == `""`:
		return nil
	case raw[0] != '"':
		text = string(raw)
	default:
		if err := json.Unmarshal(raw, &text); err != nil {
			return &wire.FormatError{Chunk: raw, Err: err}
		}
	}
	if had, ok := wire.Args(it.args.Bytes()); ok && string(had) != "{}" {
		if given, ok := wire.Args([]byte(text)); !ok || string(given) == "{}" {
			return nil // a place holder
		}
	}
	it.args.Reset()
	it.args.WriteString(text)
	return nil
}

// close ends an item with the data that the server sends at its end.
func (d *responseDecoder) close(dst []provider.Delta, it *outputItem, raw json.RawMessage) ([]provider.Delta, error) {
	var in itemData
	if it == nil || !wire.Lenient(raw, &in) {
		return dst, nil
	}
	it.kind, it.done, d.progress = string(in.Type), true, true
	switch it.kind {
	case itemMessage:
		return d.closeMessage(dst, it, &in, raw), nil
	case itemReasoning:
		return d.closeReasoning(dst, it, &in, raw), nil
	case itemCall:
		return dst, d.closeCall(it, &in, raw)
	case "":
	case "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call", "mcp_approval_request":
		// The server waits for a result that only a client with such tools has. Sent back
		// without one, it is refused.
		d.o.Notes = append(slices.Clip(d.o.Notes), wire.Notef("a "+it.kind+" was left out: fettle did not offer such a tool"))
	default:
		d.keep(it, itemEntry{Type: typeItem, Item: bytes.Clone(raw), Before: d.overtaken(it)})
	}
	return dst, nil
}

// overtaken reports whether text of a later item was handed on.
func (d *responseDecoder) overtaken(it *outputItem) bool {
	later := d.items[slices.Index(d.items, it)+1:]
	return slices.ContainsFunc(later, func(o *outputItem) bool { return o.kind == itemMessage && o.text.Len() > 0 })
}

func (d *responseDecoder) closeMessage(dst []provider.Delta, it *outputItem, in *itemData, raw json.RawMessage) []provider.Delta {
	var all wire.Content
	for _, part := range in.Content.V {
		var c wire.Content
		var about struct {
			Refusal wire.Maybe[wire.Content] `json:"refusal"`
		}
		if wire.Lenient(part, &c) {
			all = append(all, c...)
		}
		d.refused = d.refused || wire.Lenient(part, &about) && len(about.Refusal.V) > 0
	}
	dst = d.rest(dst, it, all)
	if it.further(raw); it.extra != nil && it.text.Len() > 0 && !it.kept {
		d.keep(it, itemEntry{Type: typeMessage, Fields: it.extra})
		it.kept = true
	}
	return dst
}

func (d *responseDecoder) closeReasoning(dst []provider.Delta, it *outputItem, in *itemData, raw json.RawMessage) []provider.Delta {
	if it.text.Len() == 0 {
		for i, piece := range in.Summary.V {
			dst = d.reason(dst, itemPiece{of: it, text: piece.Text, part: int64(i), summary: true})
		}
	}
	open := false
	for i, part := range in.Content.V {
		var c wire.Content
		if wire.Lenient(part, &c) && joinText(c) != "" {
			dst = d.reason(dst, itemPiece{of: it, text: d.unshown(it, joinText(c)), part: int64(i)})
			open = true
		}
	}
	if (in.Encrypted.V != "" || open) && !it.kept {
		it.kept = true
		d.keep(it, itemEntry{Type: typeItem, Item: bytes.Clone(raw), Before: d.overtaken(it)})
	}
	return dst
}

// unshown returns a text of the reasoning's if chatcompletions.Nothing of it was handed on.
func (d *responseDecoder) unshown(it *outputItem, text string) string {
	if strings.Contains(it.text.String(), text) || strings.HasPrefix(text, it.text.String()) && it.text.Len() > 0 {
		return ""
	}
	return text
}

func (d *responseDecoder) closeCall(it *outputItem, in *itemData, raw json.RawMessage) error {
	if in.CallID != "" && !it.kept {
		it.callID, it.given = string(in.CallID), string(in.CallID)
	}
	if in.Name != "" {
		it.name = string(in.Name)
	}
	it.further(raw)
	if err := it.allArguments(in.Arguments, it.name); err != nil {
		return err
	}
	d.place(it)
	return nil
}

// place gives a call an id that no other call of the response has, and keeps its place.
func (d *responseDecoder) place(it *outputItem) {
	if it.kept {
		return
	}
	it.kept = true
	taken := func(other *outputItem) bool {
		return other != it && other.kind == itemCall && other.callID == it.callID
	}
	if it.callID == "" || slices.ContainsFunc(d.items, taken) {
		it.callID = d.o.NewID()
	}
	d.keep(it, itemEntry{Type: typeCall, Call: it.callID})
}

// remaining takes the items of a whole response. Those that came before are recognised by
// their order among the items of their type, since places and ids may differ.
func (d *responseDecoder) remaining(dst []provider.Delta, output []json.RawMessage) (_ []provider.Delta, err error) {
	matched := map[*outputItem]bool{}
	for _, raw := range output {
		var in itemData
		if !wire.Lenient(raw, &in) {
			continue
		}
		it := d.unmatched(&in, func(it *outputItem) bool { return !matched[it] && it.kind == string(in.Type) })
		if it == nil {
			it = d.begin(wire.Int{})
		}
		matched[it] = true
		switch { // what is done may lack what the whole response has
		case !it.done, it.kind == itemMessage, it.kind == itemReasoning, it.kind == itemCall:
			if dst, err = d.close(dst, it, raw); err != nil {
				return dst, err
			}
		}
	}
	for _, it := range d.items {
		if it.kind == itemCall && !it.done {
			d.place(it)
		}
	}
	return dst, nil
}

// calls returns the calls of a response that has ended.
func (d *responseDecoder) calls() (calls []wire.Call) {
	for _, it := range d.items {
		if it.kind != itemCall {
			continue
		}
		several := d.unpacked(it)
		if len(several) == 0 {
			several = []wire.Call{{ID: it.callID, Name: it.name, Args: it.args.Bytes()}}
		}
		for _, c := range several {
			c.Extra = it.extra
			calls = append(calls, c)
		}
	}
	return calls
}

// packedCalls is the name under which models of OpenAI's now and then make several calls in
// one: a tool of OpenAI's own that no request offers.
const packedCalls = "multi_tool_use.parallel"

// unpacked returns the calls within a call of several; nil if it is a call of one.
func (d *responseDecoder) unpacked(it *outputItem) []wire.Call {
	var in struct {
		Uses []struct {
			Name string          `json:"recipient_name"`
			Args json.RawMessage `json:"parameters"`
		} `json:"tool_uses"`
	}
	if it.name != packedCalls || !wire.Lenient(it.args.Bytes(), &in) {
		return nil
	}
	var out []wire.Call
	for i, use := range in.Uses {
		call := wire.Call{ID: it.callID, Name: strings.TrimPrefix(use.Name, "functions."), Args: use.Args}
		if i > 0 {
			call.ID = d.o.NewID()
		}
		out = append(out, call)
	}
	return out
}

// keep keeps an entry until something else of the answer follows: a response that breaks before
// can be asked for again. Entries that are too large are left out.
func (d *responseDecoder) keep(it *outputItem, e itemEntry) {
	e.order = slices.Index(d.items, it)
	if d.kept += len(e.Item) + len(e.Fields); d.kept <= wire.MaxBody {
		d.entries = append(d.entries, e)
	}
}

// release hands on the entries in the order of their items.
func (d *responseDecoder) release(dst []provider.Delta) []provider.Delta {
	if len(d.entries) == 0 {
		return dst
	}
	d.sort()
	raw, err := wire.Marshal(d.entries)
	d.entries = nil
	if err != nil { // valid JSON always encodes
		return dst
	}
	return append(dst, provider.Delta{Kind: provider.ReasoningDetails, Details: bytes.TrimSpace(raw)})
}

func (d *responseDecoder) sort() {
	slices.SortStableFunc(d.entries, func(a, b itemEntry) int { return cmp.Compare(a.order, b.order) })
}
