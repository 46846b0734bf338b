package openai

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// The types of items.
const (
	itemMessage   = "message"
	itemReasoning = "reasoning"
	itemCall      = "function_call"
	itemResult    = "function_call_output"
)

// inputItem is one item of a request's input. Items are sent in the form in which Codex sends
// them, since that is what servers are tried with: content as a list of parts, and no ids, so
// that the server looks up chatcompletions.Nothing that it has not stored.
type inputItem struct {
	Type      string  `json:"type"`
	ID        string  `json:"id,omitempty"`
	Role      string  `json:"role,omitempty"`
	Status    string  `json:"status,omitempty"`
	Content   any     `json:"content,omitempty"`
	CallID    string  `json:"call_id,omitempty"`
	Name      string  `json:"name,omitempty"`
	Arguments *string `json:"arguments,omitempty"`
	Output    any     `json:"output,omitempty"` // a text, or a list of parts

	extra json.RawMessage // further members
	raw   json.RawMessage // an item of the model's own, in place of all other fields
}

// MarshalJSON writes the item.
func (i inputItem) MarshalJSON() ([]byte, error) {
	if i.raw != nil {
		return i.raw, nil
	}
	type plain inputItem
	return wire.WithExtra(plain(i), i.extra)
}

// inputPart is a part of a message, or of a result.
type inputPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Detail   string `json:"detail,omitempty"`
	// Annotations are empty where the parts of an answer must have them.
	Annotations *[]struct{} `json:"annotations,omitempty"`
}

// The types of the entries in a part's details that hold what the history of this API needs
// in addition to text and calls. They are fettle's own, and are not sent as they are.
const (
	ownEntries = "openai." // how these types begin
	// typeItem is an item that is sent back as it came: reasoning, or one of a type that
	// only the server understands.
	typeItem = "openai.item"
	// typeMessage are further members of the message that the text in front of the entry is.
	typeMessage = "openai.message"
	// typeCall is the place of a call among the other items.
	typeCall = "openai.call"
)

// itemEntry is such an entry.
type itemEntry struct {
	Type   string          `json:"type"`
	Item   json.RawMessage `json:"item,omitempty"`
	Fields json.RawMessage `json:"fields,omitempty"`
	Call   string          `json:"call,omitempty"`
	// Before reports that the item precedes the text in front of the entry: some servers
	// send all items at the end.
	Before bool `json:"before,omitempty"`

	order int // the place of its item in the response
}

// itemEntries reads reasoning details. What another API made is left out.
func itemEntries(details json.RawMessage) []itemEntry {
	var list []json.RawMessage
	if !wire.Lenient(details, &list) {
		return nil
	}
	var out []itemEntry
	for _, raw := range list {
		var e itemEntry
		if wire.Lenient(raw, &e) && strings.HasPrefix(e.Type, ownEntries) {
			out = append(out, e)
		}
	}
	return out
}

// messageBreak is between the texts of two messages of one response. It is not sent back.
const messageBreak = "\n\n"

// history makes the input of a request.
type history struct {
	q     chatcompletions.Quirks
	now   chatcompletions.Adaption
	names *provider.Names
	ids   *wire.IDs
	items []inputItem
	notes []string
	sent  chatcompletions.Sent
}

func newHistory(q chatcompletions.Quirks, now chatcompletions.Adaption, names *provider.Names) *history {
	return &history{q: q, now: now, names: names, ids: wire.NewIDs(fitCallID), items: []inputItem{}}
}

// maxCallID is the longest call_id that OpenAI takes.
const maxCallID = 64

// fitCallID makes an id one that OpenAI takes as call_id.
func fitCallID(id string) string {
	odd := strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
	if id != "" && len(id) <= maxCallID && !odd {
		return id
	}
	return "call_" + wire.Digest(id)
}

// add adds the items that one message becomes.
func (h *history) add(m provider.Message) {
	switch m.Role {
	case provider.Tool:
		h.results(m.Parts)
	case provider.Assistant:
		a := answer{history: h, calls: map[string]*provider.ToolCall{}}
		a.add(m.Parts)
	default:
		if parts := h.parts(m.Parts); len(parts) > 0 {
			h.items = append(h.items, inputItem{Type: itemMessage, Role: "user", Content: parts})
		}
	}
}

// parts returns the parts of a user's message, or the media of a result. Neighbouring texts
// are one part.
func (h *history) parts(parts []provider.Part) []inputPart {
	var out []inputPart
	for _, p := range parts {
		switch {
		case p.Kind == provider.ImagePart:
			out = append(out, inputPart{Type: "input_image", ImageURL: wire.DataURL(p), Detail: "auto"})
		case p.Kind == provider.AudioPart:
			h.note("a sound was left out: the Responses API takes none")
		case p.Text == "":
		case len(out) > 0 && out[len(out)-1].Type == "input_text":
			out[len(out)-1].Text += "\n\n" + p.Text
		default:
			out = append(out, inputPart{Type: "input_text", Text: p.Text})
		}
	}
	return out
}

func (h *history) note(text string) {
	if !slices.Contains(h.notes, text) {
		h.notes = append(h.notes, text)
	}
}

// results adds the results of a step. Images are within the result, or follow in a user's
// message where the server takes only text in a result.
func (h *history) results(parts []provider.Part) {
	var media []inputPart
	for _, part := range parts {
		r := part.Result
		if r == nil {
			continue
		}
		out := inputItem{Type: itemResult, CallID: h.ids.Result(r.ID), Output: r.Text}
		switch shown := h.parts(r.Media); {
		case len(shown) == 0:
		case h.q.MediaApart:
			media = append(media, inputPart{Type: "input_text", Text: "What " + h.names.Wire(r.Name) + " returned for the call " + out.CallID + ":"})
			media = append(media, shown...)
		default:
			h.sent.Media = true
			out.Output = append(h.parts([]provider.Part{{Kind: provider.TextPart, Text: r.Text}}), shown...)
		}
		h.items = append(h.items, out)
	}
	if len(media) > 0 {
		h.items = append(h.items, inputItem{Type: itemMessage, Role: "user", Content: media})
	}
}

// answer adds one answer of the model's.
type answer struct {
	*history
	calls map[string]*provider.ToolCall // those that have not been added, by their ids
	text  strings.Builder               // the message under way
	said  bool                          // a message has been added
	own   []inputItem                   // the answer's items
}

// add adds what the model said, thought and called, in the order in which it did. Reasoning
// that its item does not follow is left out, since the API refuses it.
func (a *answer) add(parts []provider.Part) {
	for _, p := range parts {
		if p.Kind == provider.ToolCallPart {
			a.calls[p.Call.ID] = p.Call
		}
	}
	for _, p := range parts {
		switch p.Kind {
		case provider.TextPart:
			a.text.WriteString(p.Text)
		case provider.ToolCallPart:
			a.message(nil)
			a.call(p.Call.ID)
		case provider.ReasoningPart:
			for _, e := range itemEntries(p.Details) {
				a.entry(e)
			}
		}
	}
	a.message(nil)
	a.dropReasoning()
	a.items = append(a.items, a.own...)
}

// entry adds the item that an entry of the details describes.
func (a *answer) entry(e itemEntry) {
	switch e.Type {
	case typeMessage:
		a.message(e.Fields)
	case typeCall:
		a.message(nil)
		if a.calls[e.Call] == nil {
			a.dropReasoning() // the call has no result, and is not sent
		}
		a.call(e.Call)
	case typeItem:
		if !e.Before {
			a.message(nil)
		}
		if item, ok := a.item(e.Item); ok {
			a.own = append(a.own, item)
		}
	}
}

// message adds the text so far as a message with further members.
func (a *answer) message(fields json.RawMessage) {
	text := a.text.String()
	a.text.Reset()
	if a.said {
		text = strings.TrimPrefix(text, messageBreak)
	}
	if text == "" {
		return
	}
	a.said = true
	part := inputPart{Type: "output_text", Text: text}
	item := inputItem{Type: itemMessage, Role: "assistant", extra: a.opaque(fields)}
	if a.q.ItemIDs {
		item.ID, item.Status = "msg_"+strconv.Itoa(len(a.items)+len(a.own)), "completed"
		part.Annotations = &[]struct{}{}
	}
	item.Content = []inputPart{part}
	a.own = append(a.own, item)
}

// call adds a call, once.
func (a *answer) call(id string) {
	c := a.calls[id]
	if c == nil {
		return
	}
	delete(a.calls, id)
	args := string(wire.ObjectArgs(c.Args))
	item := inputItem{
		Type: itemCall, CallID: a.ids.Call(c.ID), Name: a.names.Wire(c.Name), Arguments: &args, extra: a.opaque(c.Extra),
	}
	if a.q.ItemIDs {
		item.ID, item.Status = "fc_"+wire.Digest(item.CallID), "completed"
	}
	a.sent.Calls = true
	a.own = append(a.own, item)
}

// opaque returns further members without those that the address has refused.
func (a *answer) opaque(fields json.RawMessage) json.RawMessage {
	fields = wire.WithoutFields(fields, a.q.Without)
	a.sent.Fields = append(a.sent.Fields, wire.FieldNames(fields)...)
	return fields
}

// item returns an item of the model's own as it is sent: without its status, and without its
// id if the item contains all that the server needs to read it.
func (a *answer) item(raw json.RawMessage) (inputItem, bool) {
	n, err := wire.ParseNode(raw)
	if err != nil || n.Kind != '{' || a.now.NoItems {
		return inputItem{}, false
	}
	kind, encrypted := n.Get("type").Text(), n.Get("encrypted_content").Text() != ""
	if slices.Contains(a.q.Without, kind) {
		return inputItem{}, false
	}
	n.Members = slices.DeleteFunc(n.Members, func(m wire.Member) bool { return m.Value.Is("null") })
	if kind != itemReasoning {
		a.sent.Fields, a.sent.Reasoning = append(a.sent.Fields, kind), true
		return inputItem{Type: kind, raw: n.Append(nil)}, true
	}
	if encrypted && a.q.NoEncrypted {
		n.Remove("encrypted_content")
		encrypted = false
	}
	if content := n.Get("content"); !encrypted && (content == nil || len(content.Items) == 0) {
		return inputItem{}, false // the server would look for what it has not stored
	} else if content != nil && len(content.Items) == 0 {
		n.Remove("content")
	}
	n.Remove("status")
	if encrypted && !a.q.ItemIDs {
		n.Remove("id")
	}
	if n.Get("summary") == nil {
		n.Set("summary", &wire.Node{Kind: '['})
	}
	a.sent.Reasoning = true
	return inputItem{Type: kind, raw: n.Append(nil)}, true
}

// dropReasoning removes the reasoning at the end of the answer so far.
func (a *answer) dropReasoning() {
	for len(a.own) > 0 && a.own[len(a.own)-1].Type == itemReasoning {
		a.own = a.own[:len(a.own)-1]
	}
}
