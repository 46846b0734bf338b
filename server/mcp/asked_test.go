package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
)

// The question that a client gets contains all of the call, with blanks counted; a call
// that is cut can be allowed only once.
func TestQuestionsShowHostileArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, input, rule, shows string
		choices                  int
	}{
		{"blanks before the end", `{"command":"ls` + strings.Repeat(" ", 300) + `; rm -rf ~"}`, "r", "command: ls[300 blanks]; rm -rf ~", 4},
		{"characters without a shape", `{"command":"ls` + strings.Repeat(`\u3164`, 50) + `\u202e; rm"}`, "r", "command: ls[50 blanks]‹U+202E›; rm", 4},
		{"blank lines", `{"command":"ls` + strings.Repeat(`\n`, 51) + `rm"}`, "r", "  ls\n  [50 blank lines]\n  rm\n", 4},
		{"a name that is there twice", `{"command":"ls","command":"rm"}`, "r", "command: ls\ncommand: rm\n", 4},
		{"a long argument", `{"a":"` + strings.Repeat("x", 30_000) + `the end"}`, "r", "xthe end", 4},
		{"one that is too large", `{"a":"` + strings.Repeat("x", 70_000) + `"}`, "r", "… 4468 bytes more are not shown", 2},
		{"a rule that is too long", `{}`, strings.Repeat("r", 2000), "Allow run to run?", 2},
	} {
		p := question(event.ConfirmRequest{ToolID: "run", Input: json.RawMessage(c.input), Rule: c.rule, Reason: "it can change files"})
		if !strings.Contains(p.Message, c.shows) {
			t.Errorf("%s: %q is missing in %.300q", c.name, c.shows, p.Message)
		}
		decision := p.RequestedSchema.(map[string]any)["properties"].(map[string]any)["decision"].(map[string]any)
		if names := decision["enumNames"].([]string); len(names) != c.choices {
			t.Errorf("%s: %q", c.name, names)
		}
	}
}
