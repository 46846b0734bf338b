package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// maxOpen bounds the blocks of a response that are open at once; a stream with
// more is broken.
const maxOpen = 64

// piece is what a part of a block adds to the answer.
type piece struct {
	text     string
	thought  string
	citation json.RawMessage
}

// openBlock is a block of which not all pieces may have come.
type openBlock struct {
	index wire.Int
	kind  string
	call  *wire.Call
	given []byte // the input that a call began with
	held  *held  // where a block of thinking stands
	// thought is a block of thinking as it began; inside and signature are the
	// insides of its two JSON strings, kept as they came, so that a character
	// in two pieces comes through whole.
	thought   *wire.Node
	inside    []byte
	signature []byte
}

// held is an entry of the reasoning details that has not been handed on.
type held struct {
	before int // how many calls stand before it
	raw    json.RawMessage
	whole  bool
}

// blocks puts the blocks of a response together.
type blocks struct {
	open  []*openBlock
	calls []*wire.Call
	// queue are reasoning details in their order. They wait until something
	// follows them: a response that breaks right behind them can then be asked
	// for again.
	queue   []*held
	thought bool // a block of thinking has come
	placed  int  // how many calls the details have named
	marked  int  // how many calls stood before the last piece of text
}

// start begins a block and gives what it begins with.
func (b *blocks) start(at wire.Int, raw json.RawMessage) (piece, error) {
	var head struct {
		Type      wire.String     `json:"type"`
		Text      string          `json:"text"`
		Thinking  json.RawMessage `json:"thinking"`
		Signature json.RawMessage `json:"signature"`
		ID        wire.String     `json:"id"`
		Name      wire.String     `json:"name"`
		Input     json.RawMessage `json:"input"`
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &head); err != nil {
			return piece{}, &wire.FormatError{Chunk: bytes.Clone(raw), Err: err}
		}
	}
	o, err := b.begin(at, string(head.Type))
	if err != nil {
		return piece{}, err
	}
	switch o.kind {
	case typeText:
		return piece{text: head.Text}, nil
	case typeToolUse:
		o.call.ID, o.call.Name, o.given = string(head.ID), string(head.Name), bytes.Clone(head.Input)
		o.call.Extra = wire.Siblings(raw, "type", "id", "name", "input", "index", "cache_control")
	case typeRedacted:
		o.held.raw, o.held.whole = bytes.Clone(raw), true
	case typeThinking:
		if o.thought, err = wire.ParseNode(raw); err != nil {
			return piece{}, &wire.FormatError{Chunk: bytes.Clone(raw), Err: err}
		}
		return o.think(head.Thinking, head.Signature)
	}
	return piece{}, nil
}

// begin opens a block.
func (b *blocks) begin(at wire.Int, kind string) (*openBlock, error) {
	if len(b.open) == maxOpen {
		return nil, &wire.FormatError{Err: errors.New("it begins blocks without end")}
	}
	o := &openBlock{index: at, kind: kind}
	if kind == typeToolUse {
		if len(b.calls) == wire.MaxCalls {
			return nil, &wire.FormatError{Err: errors.New("it calls tools without end")}
		}
		o.call = &wire.Call{}
		b.calls = append(b.calls, o.call)
	}
	if kind == typeThinking || kind == typeRedacted {
		o.held = &held{before: len(b.calls)}
		b.queue, b.thought = append(b.queue, o.held), true
	}
	b.open = append(b.open, o)
	return o, nil
}

// add takes a piece of the block with an index, or of one that never began.
func (b *blocks) add(at wire.Int, d *delta) (piece, error) {
	kind := kindOf(string(d.Type))
	if kind == "" {
		return piece{}, nil // of a later version
	}
	o := b.find(at, kind)
	if o == nil {
		if b.foreign(at) {
			return piece{}, nil
		}
		var err error
		if o, err = b.begin(at, kind); err != nil {
			return piece{}, err
		}
		if kind == typeThinking {
			o.thought = &wire.Node{Kind: '{'}
			o.thought.Set("type", wire.StringNode(typeThinking))
		}
	}
	switch kind {
	case typeText:
		return piece{text: d.Text, citation: d.Citation}, nil
	case typeThinking:
		return o.think(d.Thinking, d.Signature)
	}
	return piece{}, o.input(d.PartialJSON)
}

// kindOf is the kind of block that a type of delta belongs to; "" is none that
// is known.
func kindOf(delta string) string {
	switch delta {
	case "text_delta", "citations_delta":
		return typeText
	case "thinking_delta", "signature_delta":
		return typeThinking
	case "input_json_delta":
		return typeToolUse
	}
	return ""
}

// find gives the open block of an index and a kind.
func (b *blocks) find(at wire.Int, kind string) *openBlock {
	for _, o := range slices.Backward(b.open) {
		if o.index == at && o.kind == kind {
			return o
		}
	}
	return nil
}

// foreign tells whether the open block of an index is of a kind that is passed
// over, such as a search that the server makes.
func (b *blocks) foreign(at wire.Int) bool {
	return slices.ContainsFunc(b.open, func(o *openBlock) bool {
		return o.index == at && o.kind != "" && o.kind != typeText && o.kind != typeThinking && o.kind != typeToolUse
	})
}

// think adds to a block of thinking.
func (o *openBlock) think(thinking, signature json.RawMessage) (piece, error) {
	var text string
	if isString(thinking) {
		if err := json.Unmarshal(thinking, &text); err != nil {
			return piece{}, &wire.FormatError{Chunk: bytes.Clone(thinking), Err: err}
		}
		o.inside = append(o.inside, thinking[1:len(thinking)-1]...)
	}
	if isString(signature) {
		o.signature = append(o.signature, signature[1:len(signature)-1]...)
	}
	if len(o.inside)+len(o.signature) > wire.MaxBody {
		return piece{}, &wire.FormatError{Err: errors.New("a block of thinking is longer than 16 MiB")}
	}
	return piece{thought: text}, nil
}

func isString(raw json.RawMessage) bool { return len(raw) >= 2 && raw[0] == '"' }

// input adds to the arguments of a call.
func (o *openBlock) input(text string) error {
	if len(o.call.Args)+len(text) > wire.MaxBody {
		return &wire.FormatError{Err: errors.New("a tool call is longer than 16 MiB")}
	}
	o.call.Args = append(o.call.Args, text...)
	return nil
}

// close ends the block of an index, if one is open.
func (b *blocks) close(at wire.Int) {
	for i, o := range b.open {
		if o.index == at {
			b.open = slices.Delete(b.open, i, i+1)
			b.finish(o)
			return
		}
	}
}

// closeAll ends all blocks.
func (b *blocks) closeAll() {
	for _, o := range b.open {
		b.finish(o)
	}
	b.open = nil
}

// finish takes what a block holds, now that it is whole.
func (b *blocks) finish(o *openBlock) {
	switch {
	case o.call != nil && len(o.call.Args) == 0:
		o.call.Args = o.given
	case o.thought != nil:
		o.thought.Set("thinking", &wire.Node{Raw: quoted(o.inside)})
		if len(o.signature) > 0 {
			o.thought.Set("signature", &wire.Node{Raw: quoted(o.signature)})
		}
		o.held.raw, o.held.whole = o.thought.Append(nil), true
	}
}

func quoted(inside []byte) []byte { return append(append([]byte{'"'}, inside...), '"') }

// markText notes that text follows calls, which the details then have to say.
// Without thinking the places of calls are of no matter.
func (b *blocks) markText() {
	if b.thought && len(b.calls) > b.marked {
		b.marked = len(b.calls)
		b.queue = append(b.queue, &held{before: len(b.calls), whole: true})
	}
}

// release hands on the details that are whole.
func (b *blocks) release(dst []provider.Delta) []provider.Delta {
	var list []byte
	for len(b.queue) > 0 && b.queue[0].whole {
		h := b.queue[0]
		b.queue = b.queue[1:]
		for ; b.placed < h.before; b.placed++ {
			if id := b.calls[b.placed].ID; id != "" {
				place, _ := json.Marshal(map[string]string{"type": typeToolUse, "id": id}) // texts always encode
				list = append(append(list, ','), place...)
			}
		}
		if h.raw != nil {
			list = append(append(list, ','), h.raw...)
		}
	}
	if len(list) == 0 {
		return dst
	}
	list[0] = '['
	return append(dst, provider.Delta{Kind: provider.ReasoningDetails, Details: append(list, ']')})
}

// list gives the calls.
func (b *blocks) list() []wire.Call {
	out := make([]wire.Call, 0, len(b.calls))
	for _, c := range b.calls {
		out = append(out, *c)
	}
	return out
}
