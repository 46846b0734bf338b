package toolset

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// SamePin reports whether a tool that a server lists now is the tool that the user
// approved. The model reads the description and the input schema, so both must have the
// same words. These differences do not count, since an update of the server's library
// or another listing produces them, and the approved values stay in use:
//
//   - white space within texts, the order of keys, and the order of required, type and enum;
//   - the title, _meta, and an output schema that the tool did not have before;
//   - a $schema that names a draft of JSON Schema;
//   - annotations that claim less danger than the approved ones.
func SamePin(approved, now Tool) bool {
	return approved.ID == now.ID && sameWords(approved.Description, now.Description) &&
		sameSchema(approved.InputSchema, now.InputSchema) &&
		(len(approved.OutputSchema) == 0 || sameSchema(approved.OutputSchema, now.OutputSchema)) &&
		!moreDangerous(approved.Annotations, now.Annotations)
}

func sameWords(a, b string) bool {
	return a == b || words(a) == words(b)
}

func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// moreDangerous reports whether b claims a danger that a does not.
func moreDangerous(a, b Annotations) bool {
	return a.ReadOnly && !b.ReadOnly || a.Idempotent && !b.Idempotent || b.Destructive && !a.Destructive || b.OpenWorld && !a.OpenWorld
}

// sameSchema compares two JSON schemas.
func sameSchema(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	left, right := decodeSchema(a), decodeSchema(b)
	return left != nil && reflect.DeepEqual(normalSchema(left, ""), normalSchema(right, ""))
}

func decodeSchema(raw json.RawMessage) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

// normalSchema returns the value of a schema's key without what [SamePin] leaves out.
// Within const, default and examples nothing is left out: these hold values, not schemas.
func normalSchema(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			draft, isText := value.(string)
			switch {
			case key != "properties" && name == "$schema" && isText && isDraft(draft):
			case key != "properties" && slices.Contains([]string{"const", "default", "examples"}, name):
				out[name] = value
			case key == "properties": // the names of properties are not keywords
				out[name] = normalSchema(value, "")
			default:
				out[name] = normalSchema(value, name)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = normalSchema(value, "")
		}
		if slices.Contains([]string{"required", "type", "enum"}, key) {
			slices.SortFunc(out, func(a, b any) int { return strings.Compare(jsonOf(a), jsonOf(b)) })
		}
		return out
	case string:
		if key == "description" || key == "title" {
			return words(v)
		}
	}
	return v
}

// isDraft reports whether a text is the address of a draft of JSON Schema.
func isDraft(text string) bool {
	_, name, ok := strings.Cut(text, "://json-schema.org/")
	return ok && len(name) <= 40 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-/#") == "" &&
		(strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://"))
}

func jsonOf(v any) string {
	raw, err := json.Marshal(v)
	if err != nil { // it comes from JSON
		return ""
	}
	return string(raw)
}
