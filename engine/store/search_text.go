package store

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
)

// SearchedText is how much of a message is indexed: a long answer several
// times over. It bounds what a turn adds to the index.
const SearchedText = 64 << 10

// passage is a part of a message that is searched by itself.
type passage struct {
	kind provider.PartKind
	text string
}

// passages are what can be found of a message: what was said, the names and
// texts of files, and what tools were called with. What the model thought and
// what tools gave back is left out: they are long and nobody remembers them.
func passages(m *chat.Message) []passage {
	var out []passage
	left := SearchedText
	add := func(kind provider.PartKind, text string) {
		text = cutBytes(text, left)
		if text != "" {
			out, left = append(out, passage{kind, text}), left-len(text)
		}
	}
	for _, p := range m.Parts {
		if p.Kind == provider.TextPart {
			add(p.Kind, p.Text)
		}
	}
	for _, p := range m.Parts {
		switch {
		case p.Kind == provider.FilePart, p.Kind == provider.ImagePart:
			add(p.Kind, p.Name)
			add(p.Kind, p.Text)
		case p.Kind == provider.ToolCallPart && p.Call != nil:
			add(p.Kind, p.Call.Name+" "+argTexts(p.Call.Args, left))
		}
	}
	return out
}

// argTexts are the values of a call's arguments in their order.
func argTexts(args json.RawMessage, limit int) string {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	var out []string
	for n := 0; n < limit; {
		t, err := dec.Token()
		if err != nil {
			break // the end, or no JSON: what came before counts
		}
		switch v := t.(type) {
		case string:
			out, n = append(out, v), n+len(v)
		case json.Number:
			out, n = append(out, v.String()), n+len(v)
		}
	}
	return strings.Join(out, " ")
}

// cutBytes shortens s to n bytes, between two characters.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
