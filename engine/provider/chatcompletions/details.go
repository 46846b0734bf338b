package chatcompletions

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// details puts a model's reasoning details together. A stream brings an entry
// in pieces that share type and index, and wants it back whole. They wait until
// something else follows: a response that breaks before can then be asked for
// again. The zero value is ready.
type details struct {
	list []*detail
	size int
}

// detail is an entry of which not all pieces may have come.
type detail struct {
	node  *wire.Node
	words string // the key of its text; "" is an entry that comes whole
	text  strings.Builder
}

// add takes the entries of one piece of the stream.
func (d *details) add(raw json.RawMessage) error {
	if d.size += len(raw); d.size > wire.MaxBody {
		return &wire.FormatError{Err: errors.New("the reasoning details are longer than 16 MiB")}
	}
	list, err := wire.ParseNode(raw)
	if err != nil {
		return &wire.FormatError{Chunk: raw, Err: err}
	}
	for _, n := range list.Items {
		if n.Kind != '{' {
			continue
		}
		if !d.goesOn(n) {
			d.list = append(d.list, newDetail(n))
		}
	}
	return nil
}

func newDetail(n *wire.Node) *detail {
	d := &detail{node: n}
	switch n.Get("type").Text() {
	case "reasoning.text":
		d.words = "text"
	case "reasoning.summary":
		d.words = "summary"
	}
	d.text.WriteString(n.Get(d.words).Text())
	return d
}

// goesOn adds an entry to the one before it, where it is the next piece of that.
func (d *details) goesOn(n *wire.Node) bool {
	if len(d.list) == 0 {
		return false
	}
	last := d.list[len(d.list)-1]
	place := n.Get("index")
	switch more := n.Get(last.words).Text(); {
	case last.words == "" || place == nil || n.Get("type").Text() != last.node.Get("type").Text(),
		last.node.Get("index") == nil || string(place.Raw) != string(last.node.Get("index").Raw),
		more != "" && last.node.Get("signature").Text() != "": // that one is sealed
		return false
	default:
		last.text.WriteString(more)
	}
	for _, m := range n.Members {
		if m.Key != last.words && !m.Value.Is("null") {
			last.node.Set(m.Key, m.Value)
		}
	}
	return true
}

// release hands on what came since the last time.
func (d *details) release(dst []provider.Delta) []provider.Delta {
	if len(d.list) == 0 {
		return dst
	}
	all := &wire.Node{Kind: '['}
	for _, one := range d.list {
		if one.words != "" && one.text.Len() > 0 {
			one.node.Set(one.words, wire.StringNode(one.text.String()))
		}
		all.Items = append(all.Items, one.node)
	}
	*d = details{}
	return append(dst, provider.Delta{Kind: provider.ReasoningDetails, Details: all.Append(nil)})
}

// typeKeptFields is the type of an entry among the details that holds members of a message
// which only the provider understands. It is fettle's own, and is not sent.
const typeKeptFields = "fettle.fields"

type keptFields struct {
	Type   string          `json:"type"`
	Fields json.RawMessage `json:"fields"`
}

// keepFields returns members of a message as an entry among the details.
func keepFields(fields json.RawMessage) json.RawMessage {
	raw, err := wire.Marshal([]keptFields{{typeKeptFields, fields}})
	if err != nil { // valid JSON always encodes
		return nil
	}
	return raw
}

// keptOf returns the members of a piece of a message that are sent back: objects and
// signatures. Other members are about the piece itself.
func keptOf(raw []byte) json.RawMessage {
	if !bytes.Contains(raw[1:], []byte("{")) && !bytes.Contains(raw, []byte("signature")) {
		return nil // as nearly always
	}
	extra := wire.Siblings(raw, "role", "content", "reasoning", "reasoning_content", "reasoning_details", "refusal",
		"tool_calls", "function_call", "annotations", "audio", "usage", "logprobs")
	if extra == nil {
		return nil
	}
	n, err := wire.ParseNode(extra)
	if err != nil {
		return nil
	}
	n.Members = slices.DeleteFunc(n.Members, func(m wire.Member) bool {
		return m.Value.Kind != '{' && !strings.Contains(m.Key, "signature")
	})
	if len(n.Members) == 0 {
		return nil
	}
	return n.Append(nil)
}

// ours distinguishes reasoning details of chat completions from those of other APIs, which have
// blocks of thinking, items and the places of calls among them.
func ours(entry json.RawMessage) bool {
	var d struct{ Type string }
	if !wire.Lenient(entry, &d) {
		return false
	}
	switch d.Type {
	case "thinking", "redacted_thinking", "tool_use", typeKeptFields:
		return false
	}
	return !strings.HasPrefix(d.Type, "openai.")
}
