package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// String is a JSON string that may as well come as a number, or as null, which
// is empty.
type String string

// UnmarshalJSON reads it.
func (s *String) UnmarshalJSON(b []byte) error {
	switch {
	case string(b) == "null":
		*s = ""
		return nil
	case b[0] == '"':
		var v string
		err := json.Unmarshal(b, &v)
		*s = String(v)
		return err
	}
	*s = String(b)
	return nil
}

// Maybe is a value of a form that some servers send otherwise: a value that
// doesn't fit T is as good as missing, and never fails the chunk it is in.
type Maybe[T any] struct {
	V   T
	Set bool
}

// UnmarshalJSON reads it.
func (m *Maybe[T]) UnmarshalJSON(b []byte) error {
	var v T
	if string(b) != "null" && json.Unmarshal(b, &v) == nil {
		m.V, m.Set = v, true
	}
	return nil
}

// Ref returns the value, or nil where there is none.
func (m *Maybe[T]) Ref() *T {
	if !m.Set {
		return nil
	}
	return &m.V
}

// List is a JSON list that may as well come as null or as its only entry. Empty
// entries are placeholders, which are left out; of another form none may be.
type List[T any] []T

// UnmarshalJSON reads it.
func (l *List[T]) UnmarshalJSON(b []byte) error {
	*l = nil
	var entries []json.RawMessage
	if b[0] != '[' || json.Unmarshal(b, &entries) != nil {
		entries = []json.RawMessage{b}
	}
	for _, raw := range entries {
		var v T
		if !Says(raw) {
			continue
		}
		if err := json.Unmarshal(raw, &v); err != nil {
			return err
		}
		*l = append(*l, v)
	}
	return nil
}

// jsonWords is the text of an error, with the place in the JSON in place of a
// type of this program.
func jsonWords(err error) string {
	var kind *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &kind):
		return err.Error()
	case kind.Field == "":
		return "it is " + article(kind.Value)
	}
	return "its field " + kind.Field + " is " + article(kind.Value)
}

func article(value string) string {
	word, _, _ := strings.Cut(value, " ") // "number 1.5" names the number
	if strings.HasPrefix(word, "a") || strings.HasPrefix(word, "o") {
		return "an " + word
	}
	return "a " + word
}

// Int is a JSON number that may as well come as a string, with a fraction, or
// as null; Set tells whether there was one.
type Int struct {
	N   int64
	Set bool
}

// UnmarshalJSON reads it. What is no number is as good as missing.
func (n *Int) UnmarshalJSON(b []byte) error {
	if f, err := strconv.ParseFloat(string(bytes.Trim(b, `"`)), 64); err == nil && f >= -1e15 && f <= 1e15 {
		*n = Int{N: int64(f), Set: true}
	}
	return nil
}

// Piece is a part of a message's content.
type Piece struct {
	Reasoning bool
	Text      string
}

// Content is the content of a message or a delta: a string, null, one part or
// a list of parts. Parts of unknown types are left out.
type Content []Piece

// UnmarshalJSON reads it.
func (c *Content) UnmarshalJSON(b []byte) error {
	*c = nil
	return c.read(b, false, 0)
}

// maxParts bounds how deep parts may lie in parts; Mistral's lie two deep.
const maxParts = 4

func (c *Content) read(b []byte, reasoning bool, depth int) error {
	b = bytes.TrimSpace(b)
	if depth > maxParts || len(b) == 0 {
		return nil
	}
	switch b[0] {
	case '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		if s != "" {
			*c = append(*c, Piece{reasoning, s})
		}
	case '[':
		var list []json.RawMessage
		if err := json.Unmarshal(b, &list); err != nil {
			return err
		}
		for _, part := range list {
			if err := c.read(part, reasoning, depth+1); err != nil {
				return err
			}
		}
	case '{':
		return c.part(b, reasoning, depth)
	}
	return nil
}

func (c *Content) part(b []byte, reasoning bool, depth int) error {
	var p struct {
		Type     String          `json:"type"`
		Text     json.RawMessage `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
		Summary  json.RawMessage `json:"summary"`
		Refusal  json.RawMessage `json:"refusal"`
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	switch p.Type {
	case "thinking", "reasoning", "reasoning_text", "summary_text":
		reasoning = true
	case "", "text", "output_text", "refusal":
	default:
		return nil
	}
	for _, raw := range []json.RawMessage{p.Thinking, p.Summary} {
		if err := c.read(raw, true, depth+1); err != nil {
			return err
		}
	}
	if err := c.read(p.Text, reasoning, depth+1); err != nil {
		return err
	}
	return c.read(p.Refusal, reasoning, depth+1)
}

// Args makes a call's arguments a JSON object. Empty, null and missing ones
// are {}; an object in a string is taken out of it; an empty object that a
// fuller one follows was a place holder. What is no object even so becomes a
// JSON string of what the model wrote, so that checking it against the tool's
// schema fails and the model is told; ok is false then.
func Args(raw []byte) (args json.RawMessage, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}"), true
	}
	var inner string
	if raw[0] == '"' && json.Unmarshal(raw, &inner) == nil {
		raw = bytes.TrimSpace([]byte(inner))
		if len(raw) == 0 || string(raw) == "null" {
			return json.RawMessage("{}"), true
		}
	}
	if obj := onlyObject(raw); obj != nil {
		return obj, true
	}
	quoted, _ := json.Marshal(string(raw)) // a string always encodes
	return quoted, false
}

// onlyObject gives the single object that raw holds beside empty ones, in
// compact form, or nil.
func onlyObject(raw []byte) json.RawMessage {
	var found json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(raw))
	for dec.More() {
		var v json.RawMessage
		if dec.Decode(&v) != nil || v[0] != '{' {
			return nil
		}
		var b bytes.Buffer
		if json.Compact(&b, v) != nil {
			return nil
		}
		switch {
		case found == nil || string(found) == "{}":
			found = b.Bytes()
		case b.String() == "{}":
		default:
			return nil // two sets of arguments: neither is the model's whole wish
		}
	}
	if len(bytes.TrimSpace(raw[dec.InputOffset():])) > 0 {
		return nil // something that is no value follows
	}
	return found
}

// Lenient decodes b into v where it fits, and reports whether it did.
func Lenient(b []byte, v any) bool { return json.Unmarshal(b, v) == nil }

// Marshal encodes a request body. Unlike json.Marshal it leaves <, > and & as
// they are, which models' templates and people's logs prefer.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return b.Bytes(), nil
}

// ErrorIn returns the error that a chunk holds: the chunk itself where it has
// an error, or that of a side object such as x_groq, or of a choice; nil where
// there is none.
func ErrorIn(chunk []byte) json.RawMessage {
	if !bytes.Contains(chunk, []byte(`"error`)) {
		return nil // nor is there one in a text, whose quotes are escaped
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(chunk, &fields) != nil {
		return nil
	}
	for _, key := range []string{"error", "errors"} {
		if Says(fields[key]) {
			return chunk
		}
	}
	for _, side := range fields {
		var entries List[sideError]
		if len(side) == 0 || side[0] != '{' && side[0] != '[' || json.Unmarshal(side, &entries) != nil {
			continue
		}
		for _, e := range entries {
			for _, raw := range []json.RawMessage{e.Error, e.Delta.V.Error, e.Message.V.Error} {
				if Says(raw) && (raw[0] == '{' || raw[0] == '"') { // a number is a measure
					return raw
				}
			}
		}
	}
	return nil
}

// sideError is the part of a side object, or of a choice, that may be an error.
type sideError struct {
	Error   json.RawMessage `json:"error"`
	Delta   Maybe[errorIn]  `json:"delta"`
	Message Maybe[errorIn]  `json:"message"`
}

type errorIn struct {
	Error json.RawMessage `json:"error"`
}

// Says tells whether an error field holds an error.
func Says(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", `""`, "{}", "[]", "0":
		return false
	}
	return true
}
