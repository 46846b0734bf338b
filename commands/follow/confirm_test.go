package follow

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/event"
)

func keysOf(choices []term.Choice) string {
	var keys []rune
	for _, c := range choices {
		keys = append(keys, c.Key)
	}
	return string(keys)
}

func TestAQuestionShowsHostileArguments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		input, rule string
		shows       []string
		keys        string
	}{
		"blanks before the end of a command": {
			`{"command":"ls` + strings.Repeat(" ", 500) + `; rm -rf ~"}`, "r", []string{"ls[500 blanks]; rm -rf ~"}, "ycan?",
		},
		"characters without a shape": {
			`{"command":"ls` + strings.Repeat(`\u3164\u00a0`, 99) + `; rm \u202ex"}`, "r", []string{"ls[198 blanks]; rm ‹U+202E›x"}, "ycan?",
		},
		"content is listed": {
			`{"path":"a.txt","content":"` + strings.Repeat(`0123456789012345678901234567\n`, 120) + `"}`, "r", []string{"a.txt", "content: 3.5 KB, 120 lines"}, "ycan?",
		},
		"a long command": {
			`{"command":"` + strings.Repeat("x", 3000) + `; rm"}`, "r", []string{"not all of it is shown: ?"}, "n?",
		},
		"a very long command": {
			`{"command":"` + strings.Repeat("x", 30000) + `; rm"}`, "r", []string{"not all of it is shown: ?"}, "n?",
		},
		"a name that is there twice": {
			`{"command":"ls","Command":"rm"}`, "r", []string{"Command: rm", "not all of it is shown: ?"}, "n?",
		},
		"a long rule": {
			`{"command":"ls"}`, "run_command(ls " + strings.Repeat("y", 900) + ")", []string{"not all of it is shown: ?"}, "n?",
		},
		"a rule with blanks": {
			`{"command":"ls"}`, "run_command(ls" + strings.Repeat(" ", 90) + "*)", []string{}, "ycan?",
		},
		"a rule of two rows": {
			`{"command":"ls"}`, "run_command(" + strings.Repeat("y", 90) + ")", []string{"c and a allow from now on run_command(yyy"}, "ycan?",
		},
	} {
		q := newCallQuestion(event.ConfirmRequest{Tool: "t", ToolID: "t", Input: json.RawMessage(c.input), Rule: c.rule, Reason: "it can change files"}, 80)
		for _, want := range c.shows {
			if !strings.Contains(q.text, want) {
				t.Errorf("%s: %q isn't in\n%s", name, want, q.text)
			}
		}
		if got := keysOf(q.choices()); got != c.keys {
			t.Errorf("%s: the keys are %s, want %s", name, got, c.keys)
		}
		if name == "a rule with blanks" && !strings.Contains(q.choices()[2].Label, "ls[90 blanks]*") {
			t.Errorf("%s: %q", name, q.choices()[2].Label)
		}
		for line := range strings.Lines(q.text) {
			if term.Cells(line) > 81 {
				t.Errorf("%s: a row of %d cells", name, term.Cells(line))
			}
		}
	}
}

func TestDetailsAreShownToTheirEndBeforeAYes(t *testing.T) {
	t.Parallel()
	var content strings.Builder
	for i := range 500 {
		fmt.Fprintf(&content, "line %d\n", i)
	}
	content.WriteString(strings.Repeat("x", 5000) + "the end")
	input, err := json.Marshal(map[string]string{"command": content.String()})
	if err != nil {
		t.Fatal(err)
	}
	ask := event.ConfirmRequest{Tool: "t", ToolID: "t", Input: input, Rule: "t(" + strings.Repeat("r", 3000) + "!)"}
	for _, rest := range []bool{false, true} {
		q := newCallQuestion(ask, 80)
		if keys := keysOf(q.choices()); keys != "n?" {
			t.Fatalf("before the details: %s", keys)
		}
		all := q.details.First()
		for screens := 1; q.details.Left() > 0; screens++ {
			if keys := keysOf(q.choices()); keys != "men" {
				t.Fatalf("after %d screens: %s", screens, keys)
			}
			if rest {
				all += q.details.Rest()
			} else {
				all += q.details.Next()
			}
		}
		if keys := keysOf(q.choices()); keys != "ycan?" {
			t.Errorf("after the details: %s", keys)
		}
		for i := range 500 {
			if !strings.Contains(all, fmt.Sprintf("    line %d\n", i)) {
				t.Fatalf("line %d isn't shown", i)
			}
		}
		if x, r := strings.Count(all, "x"), strings.Count(all, "r"); x != 5000 || r < 3000 || !strings.Contains(all, "the end\n") || !strings.Contains(all, "!)\n") {
			t.Errorf("%d of 5000 and %d of 3000 characters are shown", x, r)
		}
		if q.details.First(); keysOf(q.choices()) != "men" {
			t.Error("details that were opened again have no next screen")
		}
	}
}
