package mistral

import (
	"encoding/json"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

const (
	roleSystem    = "system"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"

	typeText     = "text"
	typeThinking = "thinking"
)

// stopped stands between a tool's result and what a person says next, where a
// turn was stopped before the model answered.
const stopped = "(The answer was stopped here.)"

type message struct {
	Role string `json:"role"`
	// Content is a string or a list of chunks.
	Content    any    `json:"content"`
	ToolCalls  []call `json:"tool_calls,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
	Name       string `json:"name,omitempty"`
	// Prefix has the model go on with this message, the last one.
	Prefix bool `json:"prefix,omitempty"`
}

// chunk is a part of a content. raw is one that is passed back as it came.
type chunk struct {
	Type  string `json:"type"`
	Text  string `json:"text,omitempty"`
	Image string `json:"image_url,omitempty"`

	raw json.RawMessage
}

// MarshalJSON writes a chunk; a raw one as it is.
func (c chunk) MarshalJSON() ([]byte, error) {
	if c.raw != nil {
		return c.raw, nil
	}
	type plain chunk
	return wire.Marshal(plain(c))
}

type call struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function callFunction `json:"function"`

	extra json.RawMessage // see provider.ToolCall.Extra
}

// MarshalJSON encodes the call with its further members.
func (c call) MarshalJSON() ([]byte, error) {
	type plain call
	return wire.WithExtra(plain(c), c.extra)
}

type callFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// conversation puts messages together in an order that the API takes.
type conversation struct {
	names    *provider.Names
	ids      *wire.IDs
	now      adaption
	without  []string // members of calls that are left out
	list     []message
	thoughts bool     // some are in it
	fields   []string // names of the members of calls that only the server understands
}

// add adds one message.
func (c *conversation) add(m provider.Message) {
	switch m.Role {
	case provider.Tool:
		for _, part := range m.Parts {
			if r := part.Result; r != nil {
				c.list = append(c.list, message{
					Role: roleTool, ToolCallID: c.ids.Result(r.ID), Name: c.names.Wire(r.Name), Content: resultContent(r),
				})
			}
		}
	case provider.Assistant:
		c.answer(m.Parts)
	default:
		c.ask(m.Parts)
	}
}

// resultContent returns the content of a tool's message: the text, or chunks if there are
// images. The API takes no message of a user's after that of a tool.
func resultContent(r *provider.ToolResult) any {
	chunks := userChunks(r.Media)
	if len(chunks) == 0 {
		return r.Text
	}
	return append(userChunks([]provider.Part{{Kind: provider.TextPart, Text: r.Text}}), chunks...)
}

// last is the role of the last message.
func (c *conversation) last() string {
	if len(c.list) == 0 {
		return ""
	}
	return c.list[len(c.list)-1].Role
}

// ask adds a person's message. One without content is left out.
func (c *conversation) ask(parts []provider.Part) {
	content := userChunks(parts)
	if len(content) == 0 {
		return
	}
	switch c.last() {
	case roleTool:
		c.list = append(c.list, message{Role: roleAssistant, Content: stopped})
	case roleUser:
		before := &c.list[len(c.list)-1]
		before.Content = simplest(append(chunksOf(before.Content), content...))
		return
	}
	c.list = append(c.list, message{Role: roleUser, Content: simplest(content)})
}

func userChunks(parts []provider.Part) []chunk {
	var out []chunk
	for _, p := range parts {
		switch {
		case p.Kind == provider.ImagePart:
			out = append(out, chunk{Type: "image_url", Image: wire.DataURL(p)})
		case p.Text != "":
			out = append(out, chunk{Type: typeText, Text: p.Text})
		}
	}
	return out
}

func chunksOf(content any) []chunk {
	switch c := content.(type) {
	case string:
		return []chunk{{Type: typeText, Text: c}}
	case []chunk:
		return c
	}
	return nil
}

// simplest is a content as a string where it is text alone, which every model
// takes.
func simplest(content []chunk) any {
	var texts []string
	for _, c := range content {
		if c.Type != typeText {
			return content
		}
		texts = append(texts, c.Text)
	}
	return strings.Join(texts, "\n\n")
}

// answer adds what the model said before. An empty answer, which a cancelled
// turn leaves, is left out: the API refuses one.
func (c *conversation) answer(parts []provider.Part) {
	out := message{Role: roleAssistant}
	var chunks []chunk
	said, thought := false, false
	for _, p := range parts {
		switch p.Kind {
		case provider.TextPart:
			chunks = appendText(chunks, p.Text)
			said = said || p.Text != ""
		case provider.ReasoningPart:
			for _, raw := range thoughts(p.Details) {
				if !c.now.noThoughts {
					chunks = append(chunks, chunk{Type: typeThinking, raw: raw})
					thought = true
				}
			}
		case provider.ToolCallPart:
			extra := wire.WithoutFields(p.Call.Extra, c.without)
			c.fields = append(c.fields, wire.FieldNames(extra)...)
			out.ToolCalls = append(out.ToolCalls, call{
				ID: c.ids.Call(p.Call.ID), Type: "function", extra: extra,
				Function: callFunction{Name: c.names.Wire(p.Call.Name), Arguments: string(wire.ObjectArgs(p.Call.Args))},
			})
		}
	}
	if !said && len(out.ToolCalls) == 0 {
		return
	}
	out.Content = chunks
	if !thought {
		out.Content = ""
		if said {
			out.Content = chunks[0].Text
		}
	}
	c.thoughts = c.thoughts || thought
	c.list = append(c.list, out)
}

// appendText adds text, to the text before it.
func appendText(dst []chunk, text string) []chunk {
	if text == "" {
		return dst
	}
	if n := len(dst); n > 0 && dst[n-1].Type == typeText {
		dst[n-1].Text += text
		return dst
	}
	return append(dst, chunk{Type: typeText, Text: text})
}

// thoughts reads reasoning details: chunks of thinking, whose thinking is a
// list. What another provider made is left out.
func thoughts(details json.RawMessage) []json.RawMessage {
	var list, out []json.RawMessage
	if !wire.Lenient(details, &list) {
		return nil
	}
	for _, raw := range list {
		var d struct {
			Type     string
			Thinking *[]json.RawMessage
		}
		if wire.Lenient(raw, &d) && d.Type == typeThinking && d.Thinking != nil {
			out = append(out, raw)
		}
	}
	return out
}

// end gives the messages. An answer at the end is one to go on with.
func (c *conversation) end() []message {
	if c.last() == roleAssistant {
		m := &c.list[len(c.list)-1]
		m.Prefix = len(m.ToolCalls) == 0
	}
	return c.list
}
