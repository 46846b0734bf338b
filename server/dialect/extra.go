package dialect

import (
	"encoding/json"
	"maps"
	"slices"
)

// function is the member of a call that names the tool.
const function = "function"

// siblings returns the members of an object that are not among the known ones; nil if there
// are none.
func siblings(raw json.RawMessage, known ...string) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	maps.DeleteFunc(fields, func(name string, value json.RawMessage) bool {
		return slices.Contains(known, name) || null(value)
	})
	return fields
}

// extraOf returns the members of a call, and of the function in it, that only the provider
// of the model that made the call understands; see [ToolCall.Extra].
func extraOf(raw json.RawMessage, known ...string) json.RawMessage {
	fields := siblings(raw, append(known, "index", "id", "type", function)...)
	var call struct {
		Function json.RawMessage `json:"function"`
	}
	if json.Unmarshal(raw, &call) == nil {
		if within := siblings(call.Function, "name", "arguments", "index"); len(within) > 0 {
			if text, err := json.Marshal(within); err == nil {
				if fields == nil {
					fields = map[string]json.RawMessage{}
				}
				fields[function] = text
			}
		}
	}
	if len(fields) == 0 {
		return nil
	}
	text, err := json.Marshal(fields)
	if err != nil { // members of valid JSON always encode
		return nil
	}
	return text
}

// extra adds the members of a call that only its provider understands, but those of the
// function.
func (o *object) extra(extra json.RawMessage) *object {
	return o.members(siblings(extra, function))
}

// extraFunction adds those of the function.
func (o *object) extraFunction(extra json.RawMessage) *object {
	var call struct {
		Function json.RawMessage `json:"function"`
	}
	if len(extra) == 0 || json.Unmarshal(extra, &call) != nil {
		return o
	}
	return o.members(siblings(call.Function))
}

func (o *object) members(fields map[string]json.RawMessage) *object {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		o.raw(name, fields[name])
	}
	return o
}

// wireCall is a call of a message of chat completions and of Ollama's API.
type wireCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`

	Custom struct {
		Name  string `json:"name"`
		Input string `json:"input"`
	} `json:"custom"`

	extra json.RawMessage
}

// UnmarshalJSON reads it.
func (c *wireCall) UnmarshalJSON(b []byte) error {
	type plain wireCall
	if err := json.Unmarshal(b, (*plain)(c)); err != nil {
		return err
	}
	if c.extra = extraOf(b, custom); c.Type == custom {
		c.Function.Name, c.Function.Arguments = c.Custom.Name, open(nil).str("input", c.Custom.Input).close()
	}
	return nil
}
