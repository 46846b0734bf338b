package openai

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// maxCalls bounds the calls of one response; a stream with more is broken.
const maxCalls = 256

// callPiece is one entry of a delta's tool_calls.
type callPiece struct {
	Index    wire.Int     `json:"index"`
	ID       wire.String  `json:"id"`
	Function *functionRef `json:"function"`
}

type functionRef struct {
	Name      wire.String     `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// pieces is a list of them, which may come as null or as a single one.
type pieces []callPiece

// UnmarshalJSON reads it.
func (p *pieces) UnmarshalJSON(b []byte) error {
	if b[0] == '{' {
		var one callPiece
		err := json.Unmarshal(b, &one)
		*p = pieces{one}
		return err
	}
	var list []callPiece
	err := json.Unmarshal(b, &list)
	*p = list
	return err
}

// building is a call of which not all pieces may have come.
type building struct {
	index wire.Int
	id    string
	name  string
	args  bytes.Buffer
}

// calls puts calls together from their pieces. Servers leave out ids and
// indexes, give every call the same index, or number the pieces of one call
// differently; see place.
type calls struct {
	list []*building
}

// add takes one piece.
func (c *calls) add(p callPiece) error {
	var fn functionRef
	if p.Function != nil {
		fn = *p.Function
	}
	b := c.place(p, fn)
	if b == nil {
		if len(c.list) == maxCalls {
			return &wire.FormatError{Err: errors.New("it calls tools without end")}
		}
		b = &building{index: p.Index}
		c.list = append(c.list, b)
	}
	if b.id == "" {
		b.id = string(p.ID)
	}
	if b.name == "" {
		b.name = string(fn.Name)
	}
	return b.append(fn.Arguments)
}

// place finds the call that a piece belongs to; nil is a new one.
func (c *calls) place(p callPiece, fn functionRef) *building {
	if len(c.list) == 0 {
		return nil
	}
	if p.ID != "" {
		if b := c.latest(func(b *building) bool { return b.id == string(p.ID) }); b != nil {
			if b.another(fn) {
				return nil
			}
			return b
		}
	}
	found := c.list[len(c.list)-1]
	if p.Index.Set {
		same := c.latest(func(b *building) bool { return b.index == p.Index })
		if same == nil && (p.ID != "" || fn.Name != "") {
			return nil
		}
		if same != nil { // else only arguments, under a number that nothing has
			found = same
		}
	}
	otherID := p.ID != "" && found.id != "" && fn.Name != "" && found.name != ""
	switch {
	case otherID && (!p.Index.Set || found.whole()):
		return nil // every call has the same number, or none
	case p.ID == "" && found.another(fn):
		return nil
	}
	return found
}

// latest finds the last call that ok holds for.
func (c *calls) latest(ok func(*building) bool) *building {
	for _, b := range slices.Backward(c.list) {
		if ok(b) {
			return b
		}
	}
	return nil
}

// another tells whether a piece that nothing else sets apart begins another
// call than b: it has a name, and b lacks nothing. Some servers repeat the
// name with every piece, so an equal one must bring arguments of its own.
func (b *building) another(fn functionRef) bool {
	if fn.Name == "" || b.name == "" || !b.whole() {
		return false
	}
	if string(fn.Name) != b.name {
		return true
	}
	var piece building
	return b.args.Len() > 0 && piece.append(fn.Arguments) == nil && piece.args.Len() > 0 && piece.whole()
}

// whole tells whether the arguments so far could be all of them.
func (b *building) whole() bool {
	args := bytes.TrimSpace(b.args.Bytes())
	return len(args) == 0 || args[len(args)-1] == '}' && json.Valid(args)
}

// append adds a piece of the arguments: part of a text, or a whole object from
// servers that don't encode it.
func (b *building) append(raw json.RawMessage) error {
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case raw[0] == '"':
		if err := json.Unmarshal(raw, &text); err != nil {
			return &wire.FormatError{Chunk: raw, Err: err}
		}
		b.args.WriteString(text)
	default:
		b.args.Write(raw)
	}
	if b.args.Len() > wire.MaxBody {
		return &wire.FormatError{Err: errors.New("a tool call is longer than 16 MiB")}
	}
	return nil
}

// finish gives the calls of a response that has ended. cut tells that it ended
// at its length limit, so that the last call may be only half there.
func (c *calls) finish(dst []provider.Delta, names *provider.Names, newID func() string, cut bool) ([]provider.Delta, error) {
	ids := map[string]bool{}
	unnamed := 0
	for _, b := range c.list {
		args, ok := wire.Args(b.args.Bytes())
		switch {
		case b.name == "":
			unnamed++
			continue
		case !ok && cut:
			dst = append(dst, provider.Delta{Kind: provider.Footnote, Text: "a call of " + names.Tool(b.name) + " was cut off at the length limit and left out"})
			continue
		}
		if b.id == "" || ids[b.id] {
			b.id = newID()
		}
		ids[b.id] = true
		dst = append(dst, provider.Delta{Kind: provider.CallDelta, Call: &provider.ToolCall{
			ID: b.id, Name: names.Tool(b.name), Args: args,
		}})
	}
	switch {
	case unnamed > 0 && unnamed == len(c.list):
		return dst, &wire.FormatError{Err: errors.New("the model called a tool without naming it")}
	case unnamed > 0:
		dst = append(dst, provider.Delta{Kind: provider.Footnote, Text: "a tool call without a name was left out"})
	}
	return dst, nil
}

// newID makes an id for a call that came without one.
func newID() string { return "call_" + rand.Text()[:16] }
