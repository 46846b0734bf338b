package chatcompletions

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// typeThinking is the type of a chunk of thinking.
const typeThinking = "thinking"

// content is the content of a message or a delta: a text, or what is read once its form is
// known, before the next event.
type content struct {
	wire.Content
	raw json.RawMessage
}

// UnmarshalJSON reads a text, and notes anything else.
func (c *content) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return c.Content.UnmarshalJSON(b)
	}
	if string(b) != "null" {
		c.raw = b
	}
	return nil
}

// chunks is the content of an answer in a history.
type chunks struct {
	list          []contentPart
	text, thought bool // what is in it
}

// add adds text, to the text before it.
func (c *chunks) add(text string) {
	if text == "" {
		return
	}
	c.text = true
	if n := len(c.list); n > 0 && c.list[n-1].raw == nil {
		c.list[n-1].Text += text
		return
	}
	c.list = append(c.list, contentPart{Type: "text", Text: text})
}

// think adds the chunks of thinking among reasoning details. What another API made is left out.
func (c *chunks) think(details json.RawMessage) {
	for _, raw := range thoughts(details) {
		c.list, c.thought = append(c.list, contentPart{raw: raw}), true
	}
}

// content returns the list, or its text if that is all.
func (c *chunks) content(q Quirks) any {
	switch {
	case c.thought:
		return c.list
	case c.text:
		return c.list[0].Text
	case q.Chunks:
		return ""
	}
	return nil
}

// thoughts reads reasoning details: chunks of thinking, whose thinking is a list.
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

// contentPiece is a part of a content: text, or thinking.
type contentPiece struct {
	text      string
	thinking  []json.RawMessage // the chunks that it is made of
	signature string
}

// readContent reads a content that is not a text: one chunk or a list of them.
// Chunks of other kinds, such as references, are passed over.
func readContent(raw json.RawMessage) (out []contentPiece, err error) {
	var list []json.RawMessage
	switch raw[0] {
	case '{':
		list = append(list, raw)
	case '[':
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
	default:
		return nil, errors.New("the content is neither text nor a list of chunks")
	}
	for _, c := range list {
		if out, err = readChunk(out, c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func readChunk(dst []contentPiece, raw json.RawMessage) ([]contentPiece, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return dst, nil
	}
	var c struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  json.RawMessage `json:"thinking"`
		Signature wire.String     `json:"signature"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return dst, err
	}
	switch c.Type {
	case "text", "":
		return append(dst, contentPiece{text: c.Text}), nil
	case typeThinking:
		list, err := thinkingChunks(c.Thinking)
		return append(dst, contentPiece{thinking: list, signature: string(c.Signature)}), err
	}
	return dst, nil
}

// thinkingChunks gives the chunks of thinking, which may come as plain text.
func thinkingChunks(raw json.RawMessage) ([]json.RawMessage, error) {
	list := []json.RawMessage{} // not nil: it is thinking, even if there is nothing in it
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) == 0 || string(raw) == "null":
		return list, nil
	case raw[0] == '"':
		return append(list, append(append([]byte(`{"type":"text","text":`), raw...), '}')), nil
	}
	err := json.Unmarshal(raw, &list)
	return list, err
}

// thoughtChunks puts the chunks of thinking of a response together. They wait
// until something else follows them: a stream brings a few words in each, and
// one chunk is what the API itself makes of them.
type thoughtChunks struct {
	text      strings.Builder // of the last chunk, where that is text
	list      []json.RawMessage
	signature strings.Builder
	size      int
}

// add takes a chunk and gives the text in it.
func (t *thoughtChunks) add(c contentPiece) (string, error) {
	var shown strings.Builder
	for _, raw := range c.thinking {
		if t.size += len(raw); t.size > wire.MaxBody {
			return "", &wire.FormatError{Err: errors.New("the thinking is longer than 16 MiB")}
		}
		var inner struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		switch {
		case !wire.Lenient(raw, &inner):
		case inner.Type == "text" || inner.Type == "":
			t.text.WriteString(inner.Text)
			shown.WriteString(inner.Text)
		default: // a reference, say
			t.flush()
			t.list = append(t.list, bytes.Clone(raw))
		}
	}
	if t.size += len(c.signature); t.size > wire.MaxBody {
		return "", &wire.FormatError{Err: errors.New("the signature of the thinking is longer than 16 MiB")}
	}
	t.signature.WriteString(c.signature)
	return shown.String(), nil
}

// flush ends a run of text.
func (t *thoughtChunks) flush() {
	if t.text.Len() == 0 {
		return
	}
	raw, _ := wire.Marshal(contentPart{Type: "text", Text: t.text.String()}) // text always encodes
	t.list = append(t.list, bytes.TrimSpace(raw))
	t.text.Reset()
}

// release hands on what came since the last time, as reasoning details.
func (t *thoughtChunks) release(dst []provider.Delta) []provider.Delta {
	t.flush()
	if len(t.list) == 0 && t.signature.Len() == 0 {
		return dst
	}
	whole := struct {
		Type      string            `json:"type"`
		Thinking  []json.RawMessage `json:"thinking"`
		Signature string            `json:"signature,omitempty"`
	}{typeThinking, append([]json.RawMessage{}, t.list...), t.signature.String()} // a list, never null
	*t = thoughtChunks{}
	raw, err := wire.Marshal([]any{whole})
	if err != nil {
		return dst // as good as never: its parts were decoded before
	}
	return append(dst, provider.Delta{Kind: provider.ReasoningDetails, Details: bytes.TrimSpace(raw)})
}
