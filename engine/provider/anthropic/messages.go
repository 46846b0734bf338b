package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

const (
	roleUser      = "user"
	roleAssistant = "assistant"

	typeThinking = "thinking"
	typeRedacted = "redacted_thinking"
	typeToolUse  = "tool_use"
	typeText     = "text"

	typeToolResult = "tool_result"
)

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is one block of a message's content. raw is a block that is passed
// back as it came.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Source    *imageSource    `json:"source,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   any             `json:"content,omitempty"` // of a result: a text, or blocks
	IsError   bool            `json:"is_error,omitempty"`
	Cache     *cacheMark      `json:"cache_control,omitempty"`

	raw   json.RawMessage
	extra json.RawMessage // see provider.ToolCall.Extra
}

type imageSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

// MarshalJSON writes a block; a raw one as it is.
func (b block) MarshalJSON() ([]byte, error) {
	if b.raw != nil {
		return b.raw, nil
	}
	type plain block
	return wire.WithExtra(plain(b), b.extra)
}

func (b block) isThought() bool { return b.Type == typeThinking || b.Type == typeRedacted }

// messages turns the conversation into messages of which no two neighbours have
// the same role.
func (e *encoder) messages() {
	ids := wire.NewIDs(fitID)
	for _, m := range e.req.Messages {
		switch m.Role {
		case provider.Assistant:
			e.add(roleAssistant, e.said(m.Parts, ids))
		case provider.Tool:
			e.add(roleUser, e.results(m.Parts, ids))
		default:
			e.add(roleUser, e.asked(m.Parts))
		}
	}
}

// add appends content, to the last message where that has the same role. A
// message without content is left out; the API refuses it.
func (e *encoder) add(role string, content []block) {
	if len(content) == 0 {
		return
	}
	if n := len(e.out.Messages); n > 0 && e.out.Messages[n-1].Role == role {
		e.out.Messages[n-1].Content = append(e.out.Messages[n-1].Content, content...)
		return
	}
	e.out.Messages = append(e.out.Messages, message{Role: role, Content: content})
}

// said is what the model said, thought and called, in the order in which it
// did.
func (e *encoder) said(parts []provider.Part, ids *wire.IDs) []block {
	var out []block
	calls := map[string]*provider.ToolCall{}
	for _, p := range parts {
		if p.Kind == provider.ToolCallPart {
			calls[p.Call.ID] = p.Call
		}
	}
	call := func(id string) {
		if c := calls[id]; c != nil { // once
			delete(calls, id)
			extra := wire.WithoutFields(c.Extra, e.q.without)
			e.built.used.fields = append(e.built.used.fields, wire.FieldNames(extra)...)
			out = append(out, block{
				Type: typeToolUse, ID: ids.Call(id), Name: e.names.Wire(c.Name), Input: wire.ObjectArgs(c.Args), extra: extra,
			})
		}
	}
	for _, p := range parts {
		switch p.Kind {
		case provider.TextPart:
			if n := len(out); n > 0 && out[n-1].Type == typeText {
				out[n-1].Text += p.Text // it was one text
			} else {
				out = appendText(out, p.Text)
			}
		case provider.ToolCallPart:
			call(p.Call.ID)
		case provider.ReasoningPart:
			for _, d := range thoughts(p.Details) {
				switch {
				case d.Type == typeToolUse:
					call(d.ID)
				case !e.now.noThoughts:
					out = append(out, d)
					e.built.used.thoughts = true
				}
			}
		}
	}
	return withoutLastThoughts(out)
}

// withoutLastThoughts takes away thinking that nothing follows, which the API
// refuses, as it does a message of nothing else.
func withoutLastThoughts(blocks []block) []block {
	for len(blocks) > 0 && blocks[len(blocks)-1].isThought() {
		blocks = blocks[:len(blocks)-1]
	}
	return blocks
}

// thoughts reads reasoning details: blocks of thinking, and the places of
// calls among them. What another provider made is left out.
func thoughts(details json.RawMessage) []block {
	var list []json.RawMessage
	if !wire.Lenient(details, &list) {
		return nil
	}
	var out []block
	for _, raw := range list {
		var d struct {
			Type      string
			ID        string
			Thinking  *string
			Signature string
			Data      string
		}
		if !wire.Lenient(raw, &d) {
			continue
		}
		switch {
		case d.Type == typeToolUse:
			out = append(out, block{Type: typeToolUse, ID: d.ID})
		case d.Type == typeThinking && d.Thinking != nil && (*d.Thinking != "" || d.Signature != ""),
			d.Type == typeRedacted && d.Data != "":
			out = append(out, block{Type: d.Type, raw: raw})
		}
	}
	return out
}

// appendText appends text, unless there is nothing to see in it: the API
// refuses that.
func appendText(dst []block, text string) []block {
	if strings.TrimSpace(text) == "" {
		return dst
	}
	return append(dst, block{Type: typeText, Text: text})
}

// results are the answers of tools.
func (e *encoder) results(parts []provider.Part, ids *wire.IDs) []block {
	var out []block
	for _, p := range parts {
		if r := p.Result; r != nil {
			b := block{Type: typeToolResult, ToolUseID: ids.Result(r.ID), IsError: r.Error}
			switch images := e.asked(r.Media); {
			case len(images) > 0:
				b.Content = append(appendText(nil, r.Text), images...)
			case strings.TrimSpace(r.Text) != "":
				b.Content = r.Text
			}
			out = append(out, b)
		}
	}
	return out
}

// asked returns the blocks of a user's message, or of the images of a result.
func (e *encoder) asked(parts []provider.Part) []block {
	var out []block
	for _, p := range parts {
		if p.Kind != provider.ImagePart {
			out = appendText(out, p.Text)
			continue
		}
		kind, ok := imageType(p)
		if !ok {
			e.note("%s was left out: %s takes JPEG, PNG, GIF and WebP, and this is %s", imageName(p), e.req.Model, kind)
			continue
		}
		out = append(out, block{Type: "image", Source: &imageSource{
			Type: "base64", MediaType: kind, Data: base64.StdEncoding.EncodeToString(p.Data),
		}})
	}
	return out
}

// imageType tells what an image is, and whether the API takes it. It looks at
// the data, since the API refuses an image that isn't what it is said to be.
func imageType(p provider.Part) (kind string, ok bool) {
	for _, kind := range []string{http.DetectContentType(p.Data), p.MIME} {
		switch kind {
		case "image/jpeg", "image/png", "image/gif", "image/webp":
			return kind, true
		}
	}
	if p.MIME != "" {
		return wire.Clean(p.MIME), false
	}
	return "something else", false
}

func imageName(p provider.Part) string {
	if p.Name == "" {
		return "an image"
	}
	return "image " + wire.Clean(p.Name)
}

// maxID is the longest id that is sent as it is.
const maxID = 64

// fitID makes an id one of letters, digits, _ and -, as the API wants.
func fitID(id string) string {
	fits := id != "" && len(id) <= maxID
	for i := range len(id) {
		fits = fits && idByte(id[i])
	}
	if fits {
		return id
	}
	return "toolu_" + wire.Digest(id)
}

func idByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// mark sets the marks for the prompt cache; see the package's comment. There
// may be four.
func (e *encoder) mark() {
	if n := len(e.out.Tools); n > 0 {
		e.out.Tools[n-1].Cache = ephemeral()
		e.built.used.cache = true
	}
	if n := len(e.out.System); n > 0 {
		e.out.System[n-1].Cache = ephemeral()
		e.built.used.cache = true
	}
	if len(e.out.Messages) < 2 && len(e.req.Tools) == 0 {
		return // a question that may well stay alone; writing it costs more than it
	}
	left := 2
	for i := len(e.out.Messages) - 1; i >= 0 && left > 0; i-- {
		m := e.out.Messages[i]
		if m.Role != roleUser && i != len(e.out.Messages)-1 {
			continue
		}
		for j := len(m.Content) - 1; j >= 0; j-- {
			if !m.Content[j].isThought() {
				m.Content[j].Cache = ephemeral()
				e.built.used.cache = true
				left--
				break
			}
		}
	}
}
