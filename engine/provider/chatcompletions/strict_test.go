package chatcompletions

import (
	"encoding/json"
	"testing"
)

func TestStrictSchema(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`:                                                                true,
		`{"type":"object","properties":{},"required":[],"additionalProperties":false}`:                                                                                        true,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/x"}]}},"required":["a"],"additionalProperties":false,"$defs":{"x":{"type":"string"}}}`: true,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                                                                                             false,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}`:                                                                   false,
		`{"type":"object","properties":{"a":{"type":"object"}},"required":["a"],"additionalProperties":false}`:                                                                false,
		`{"type":"object","properties":{"a":{"type":"array","items":{"oneOf":[]}}},"required":["a"],"additionalProperties":false}`:                                            false,
		`{"type":"array"}`: false, `true`: false, `{`: false,
	} {
		if got := strictSchema(json.RawMessage(schema)); got != want {
			t.Errorf("%s: %v", schema, got)
		}
	}
}
