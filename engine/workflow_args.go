package engine

import (
	"encoding/json"
	"strings"

	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/render"
)

// fillStep puts values into the arguments of a step: a text that is one
// reference alone becomes the value, with its type; within a text strings go in
// as they are, and all else as JSON. What isn't there is null, or nothing within
// a text. Values are never looked at for references themselves.
func fillStep(args json.RawMessage, values map[string]json.RawMessage) json.RawMessage {
	var v any
	dec := json.NewDecoder(strings.NewReader(string(args)))
	dec.UseNumber() // numbers keep their digits
	if len(args) == 0 || dec.Decode(&v) != nil {
		return nil
	}
	out, err := record.Marshal(fillValue(v, values))
	if err != nil {
		return nil
	}
	return out
}

func fillValue(v any, values map[string]json.RawMessage) any {
	switch v := v.(type) {
	case string:
		if refs := manifest.References(v); len(refs) == 1 && refs[0].Text == v {
			if value, known := resolveRef(refs[0], values); known {
				return value
			}
			return v
		}
		return fillText(v, values)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = fillValue(v[i], values)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name := range v {
			out[name] = fillValue(v[name], values)
		}
		return out
	}
	return v
}

// resolveRef is the value of a reference, null where it isn't there; known tells
// whether there is such a root at all.
func resolveRef(r manifest.Reference, values map[string]json.RawMessage) (value json.RawMessage, known bool) {
	root, known := values[r.Name]
	if !known {
		return nil, false
	}
	value, there := render.Lookup(root, r.Path)
	if !there {
		return json.RawMessage("null"), true
	}
	return value, true
}

// fillText puts values into a text.
func fillText(text string, values map[string]json.RawMessage) string {
	var b strings.Builder
	for _, ref := range manifest.References(text) {
		i := strings.Index(text, ref.Text)
		b.WriteString(text[:i])
		text = text[i+len(ref.Text):]
		value, known := resolveRef(ref, values)
		var s string
		switch {
		case !known:
			b.WriteString(ref.Text)
		case string(value) == "null":
		case json.Unmarshal(value, &s) == nil:
			b.WriteString(s)
		default:
			b.Write(value)
		}
	}
	b.WriteString(text)
	return b.String()
}
