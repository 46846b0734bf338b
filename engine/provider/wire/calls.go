package wire

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/fettle-cli/fettle/engine/provider"
)

// MaxCalls bounds the calls of one response; a stream with more is broken.
const MaxCalls = 256

// Call is a call as a model wrote it, before anybody looked at it.
type Call struct {
	ID   string
	Name string // as the provider knows the tool
	Args []byte
	// Extra is provider.ToolCall.Extra.
	Extra json.RawMessage
}

// FinishOptions say how the calls of a response are handed on.
type FinishOptions struct {
	Names *provider.Names
	// NewID makes an id for a call that came without one of its own.
	NewID func() string
	// Cut tells that the response ended at its length limit, so that a call may
	// be only half there.
	Cut bool
}

// FinishCalls hands on the calls of a response that has ended: with their own
// names, ids that differ, and arguments that are JSON. A call without a name
// and arguments is a placeholder for none. One with arguments gets
// [provider.UnnamedTool] as its name. A call that the length limit cut off is left out
// with a footnote.
func FinishCalls(dst []provider.Delta, calls []Call, o FinishOptions) []provider.Delta {
	ids := map[string]bool{}
	for _, c := range calls {
		args, ok := Args(c.Args)
		tool := provider.UnnamedTool
		if c.Name != "" {
			tool = o.Names.Tool(c.Name)
		}
		switch {
		case c.Name == "" && string(args) == "{}":
			continue
		case !ok && o.Cut && c.Name == "":
			dst = footnote(dst, "a tool call was cut off at the length limit and left out")
			continue
		case !ok && o.Cut:
			dst = footnote(dst, "a call of "+tool+" was cut off at the length limit and left out")
			continue
		}
		if c.ID == "" || ids[c.ID] {
			c.ID = o.NewID()
		}
		ids[c.ID] = true
		call := &provider.ToolCall{ID: c.ID, Name: tool, Args: args, Extra: c.Extra}
		dst = append(dst, provider.Delta{Kind: provider.CallDelta, Call: call})
	}
	return dst
}

// Unfinished reports whether the arguments of a call are only a beginning. Some servers
// send the rest of them after the finish reason.
func Unfinished(calls []Call) bool {
	return slices.ContainsFunc(calls, func(c Call) bool {
		var v json.RawMessage
		return len(bytes.TrimSpace(c.Args)) > 0 && errors.Is(json.NewDecoder(bytes.NewReader(c.Args)).Decode(&v), io.ErrUnexpectedEOF)
	})
}

// emptyArgs reports whether arguments hold nothing.
func emptyArgs(raw json.RawMessage) bool {
	args, ok := Args(raw)
	return ok && string(args) == "{}"
}

func footnote(dst []provider.Delta, text string) []provider.Delta {
	return append(dst, provider.Delta{Kind: provider.Footnote, Text: text})
}

// ObjectArgs gives a call's arguments as a history holds them: an object, also
// where the model wrote something else, since servers refuse a history that
// isn't valid.
func ObjectArgs(args json.RawMessage) json.RawMessage {
	if args = bytes.TrimSpace(args); len(args) > 0 && args[0] == '{' && json.Valid(args) {
		return args
	}
	return json.RawMessage("{}")
}

// NewCallID makes an id for a call that came without one.
func NewCallID() string { return "call_" + rand.Text()[:16] }

// CallPiece is one entry of a chat completion's tool_calls.
type CallPiece struct {
	Index    Int                 `json:"index"`
	ID       String              `json:"id"`
	Function Maybe[CallFunction] `json:"function"`
	// Extra are the members that are not known, as an object in which those of the
	// function are within "function"; see provider.ToolCall.Extra.
	Extra json.RawMessage `json:"-"`
}

// UnmarshalJSON reads it.
func (p *CallPiece) UnmarshalJSON(b []byte) error {
	type plain CallPiece
	if err := json.Unmarshal(b, (*plain)(p)); err != nil {
		return err
	}
	p.Extra = Siblings(b, "index", "id", "type", "function")
	var within struct {
		Function json.RawMessage `json:"function"`
	}
	if !Lenient(b, &within) {
		return nil
	}
	if inner := Siblings(within.Function, "name", "arguments", "index", "description", "parameters"); inner != nil {
		p.Extra = JoinFields(p.Extra, json.RawMessage(`{"function":`+string(inner)+`}`))
	}
	return nil
}

// CallFunction is what a CallPiece calls.
type CallFunction struct {
	Name      String          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// CallPieces is a list of them, which may come as null or as a single one.
type CallPieces = List[CallPiece]

// Calls puts the calls of a chat completion together from their pieces.
// Servers leave out ids and indexes, give every call the same index, or number
// the pieces of one call differently; see place. The zero value is ready.
type Calls struct {
	list []*building
}

// building is a call of which not all pieces may have come.
type building struct {
	index Int
	id    string
	name  string
	args  bytes.Buffer
	extra json.RawMessage
}

// Add takes one piece.
func (c *Calls) Add(p CallPiece) error {
	fn := p.Function.V
	b := c.place(p, fn)
	if b == nil {
		if p.ID == "" && fn.Name == "" && emptyArgs(fn.Arguments) {
			return nil // a placeholder for no call
		}
		if len(c.list) == MaxCalls {
			return &FormatError{Err: errors.New("it calls tools without end")}
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
	if b.extra = JoinFields(b.extra, p.Extra); len(b.extra) > MaxBody {
		return &FormatError{Err: errors.New("the further fields of a tool call are longer than 16 MiB")}
	}
	return b.append(fn.Arguments)
}

// List gives the calls that have come so far.
func (c *Calls) List() []Call {
	out := make([]Call, 0, len(c.list))
	for _, b := range c.list {
		out = append(out, Call{ID: b.id, Name: b.name, Args: b.args.Bytes(), Extra: b.extra})
	}
	return out
}

// place finds the call that a piece belongs to; nil is a new one.
func (c *Calls) place(p CallPiece, fn CallFunction) *building {
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
func (c *Calls) latest(ok func(*building) bool) *building {
	for _, b := range slices.Backward(c.list) {
		if ok(b) {
			return b
		}
	}
	return nil
}

// another tells whether a piece that nothing else sets apart begins another
// call than b: it has a name, and b lacks nothing. Some servers repeat the
// name with every piece, so an equal one must bring arguments of its own; and
// some put an empty object before the first, which more may follow.
func (b *building) another(fn CallFunction) bool {
	if fn.Name == "" || b.name == "" || !b.whole() {
		return false
	}
	if string(fn.Name) != b.name {
		return true
	}
	var piece building
	if b.args.Len() == 0 || piece.append(fn.Arguments) != nil || piece.args.Len() == 0 {
		return false
	}
	return piece.whole() || string(bytes.TrimSpace(b.args.Bytes())) != "{}" && bytes.HasPrefix(piece.args.Bytes(), []byte("{"))
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
			return &FormatError{Chunk: raw, Err: err}
		}
		b.args.WriteString(text)
	default:
		b.args.Write(raw)
	}
	if b.args.Len() > MaxBody {
		return &FormatError{Err: errors.New("a tool call is longer than 16 MiB")}
	}
	return nil
}
