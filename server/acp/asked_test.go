package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
)

// What an editor is sent to decide on holds all of the call, with blanks counted.
func TestPermissionsShowHostileArguments(t *testing.T) {
	t.Parallel()
	s := &session{id: "s", cwd: t.TempDir()}
	for name, c := range map[string]struct {
		tool, input string
		shows       []string
		whole       bool
	}{
		"blanks before the end":       {"run_command", `{"command":"ls` + strings.Repeat(" ", 300) + `; rm -rf ~"}`, []string{"command: ls[300 blanks]; rm -rf ~"}, true},
		"characters without a shape":  {"run_command", `{"command":"ls` + strings.Repeat(`\u3164`, 50) + `\u202e; rm"}`, []string{"command: ls[50 blanks]‹U+202E›; rm"}, true},
		"a name that is there twice":  {"run_command", `{"command":"ls","Command":"rm"}`, []string{"command: ls\n", "Command: rm\n"}, true},
		"an argument beside the diff": {"write_file", `{"path":"a.txt","content":"x","mode":"0755"}`, []string{"mode: 0755", "\x00x"}, true},
		"blanks in a diff":            {"write_file", `{"path":"a.txt","content":"x` + strings.Repeat(`\u2800`, 40) + `y"}`, []string{"content: x[40 blanks]y"}, true},
		"a plain diff":                {"write_file", `{"path":"a.txt","content":"one\n\ttwo\n"}`, []string{"\x00one\n\ttwo\n"}, true},
		"a long argument":             {"set:tool", `{"a":"` + strings.Repeat("x", 100_000) + `the end"}`, []string{"xthe end"}, true},
		"one that is too large":       {"set:tool", `{"a":"` + strings.Repeat("x", 300_000) + `"}`, []string{"… 37860 bytes more are not shown"}, false},
	} {
		out, whole := s.asked(event.ConfirmRequest{ToolID: c.tool, Input: json.RawMessage(c.input), Reason: "it can change files"})
		var all strings.Builder
		for _, o := range out {
			if o.Content != nil {
				all.WriteString(*o.Content.Text)
			}
			if o.NewText != nil {
				all.WriteString("\x00" + *o.NewText)
			}
		}
		for _, want := range append(c.shows, "Needs your approval: it can change files") {
			if !strings.Contains(all.String(), want) {
				t.Errorf("%s: %q is missing in %.400q", name, want, all.String())
			}
		}
		if whole != c.whole {
			t.Errorf("%s: whole is %v", name, whole)
		}
		if strings.Contains(c.input, "\\ttwo") && len(out) != 2 {
			t.Errorf("%s: it is shown twice: %d parts", name, len(out))
		}
	}
}

func TestRulesAreWholeInTheirOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, rule string
		whole      bool
		options    int
		shows      string
	}{
		{"a rule", "run_command(ls *)", true, 5, "Always allow: run_command(ls *)"},
		{"a rule with blanks", "run_command(ls" + strings.Repeat(" ", 90) + "*)", true, 5, "Always allow: run_command(ls[90 blanks]*)"},
		{"a long rule", "run_command(" + strings.Repeat("x", 400) + "!)", true, 5, "x!)"},
		{"a rule that is too long", "run_command(" + strings.Repeat("x", 4000) + ")", true, 2, ""},
		{"a call that is cut", "run_command(ls *)", false, 2, ""},
		{"no rule", "", true, 2, ""},
	} {
		options := permissionOptions(c.rule, c.whole)
		if len(options) != c.options || c.options == 5 && !strings.Contains(options[2].Name, c.shows) {
			t.Errorf("%s: %+v", c.name, options)
		}
	}
}
