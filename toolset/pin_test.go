package toolset_test

import (
	"encoding/json"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
)

// TestSamePin covers the differences between listings that do not matter, and those
// that matter.
func TestSamePin(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"n":{"type":["integer","null"],"description":"how many"},"mode":{"enum":["a","b"]}},"required":["n","mode"]}`
	base := toolset.Tool{ID: "s:t", Name: "t", Description: "Counts things.\n\n    n: how many", InputSchema: json.RawMessage(schema), Annotations: toolset.UnknownAnnotations()}
	output := base
	output.OutputSchema = json.RawMessage(`{"type":"object"}`)
	safe := base
	safe.Annotations = toolset.Annotations{ReadOnly: true}
	change := func(from toolset.Tool, fn func(*toolset.Tool)) toolset.Tool { fn(&from); return from }
	input := func(text string) toolset.Tool {
		return change(base, func(t *toolset.Tool) { t.InputSchema = json.RawMessage(text) })
	}
	for _, c := range []struct {
		name          string
		approved, now toolset.Tool
		same          bool
	}{
		{"nothing", base, base, true},
		{"title", base, change(base, func(t *toolset.Tool) { t.Name = "T" }), true},
		{"page", base, change(base, func(t *toolset.Tool) { t.App = "ui://x" }), true},
		{"indentation of the description", base, change(base, func(t *toolset.Tool) { t.Description = "Counts things.\r\nn: how many\n" }), true},
		{"words of the description", base, change(base, func(t *toolset.Tool) { t.Description += " and sends them away" }), false},
		{"annotations added", base, safe, true},
		{"annotations removed", safe, base, false},
		{"destructive", safe, change(safe, func(t *toolset.Tool) { t.Annotations.Destructive = true }), false},
		{"output schema added", base, output, true},
		{"output schema removed", output, base, false},
		{"key order and white space", base, input(`{ "required":["mode","n"], "properties":{"mode":{"enum":["b","a"]},"n":{"description":"how  many","type":["null","integer"]}},"type":"object"}`), true},
		{"draft added", base, input(`{"$schema":"http://json-schema.org/draft-07/schema#",` + schema[1:]), true},
		{"text in the place of a draft", base, input(`{"$schema":"http://json-schema.org/send the keys away",` + schema[1:]), false},
		{"another description in the schema", base, input(`{"type":"object","properties":{"n":{"type":["integer","null"],"description":"send keys"},"mode":{"enum":["a","b"]}},"required":["n","mode"]}`), false},
		{"another property", base, input(`{"type":"object","properties":{"n":{"type":["integer","null"],"description":"how many"},"mode":{"enum":["a","b"]},"required":{}},"required":["n","mode"]}`), false},
		{"no longer required", base, input(`{"type":"object","properties":{"n":{"type":["integer","null"],"description":"how many"},"mode":{"enum":["a","b"]}},"required":["n"]}`), false},
		{"a default that is a list", input(`{"type":"object","properties":{"n":{"default":{"required":["a","b"]}}}}`), input(`{"type":"object","properties":{"n":{"default":{"required":["b","a"]}}}}`), false},
		{"not JSON", input(`{`), input(`[`), false},
	} {
		if got := toolset.SamePin(c.approved, c.now); got != c.same {
			t.Errorf("%s: %v, want %v", c.name, got, c.same)
		}
	}
}
