package chat

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/term/live"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/store"
)

func TestSlash(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/undo 2": "undo|2|true", "/help": "help||true", "/usr/bin/x": "||false", "/etc.d": "||false", "undo": "||false", "/": "||true",
	} {
		name, arg, ok := slash(text)
		if got := fmt.Sprintf("%s|%s|%v", name, arg, ok); got != want {
			t.Errorf("%q gave %s, want %s", text, got, want)
		}
	}
}

// TestTables: lists of flat objects are tables, and nothing else is.
func TestTables(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]int{
		`[{"a":1,"b":"x"},{"a":2}]`:     2,
		`{"rows":[{"a":1}],"total":1}`:  1,
		`{"a":[{"x":1}],"b":[{"x":1}]}`: 0,
		`[{"a":{"deep":1}}]`:            0,
		`[1,2]`:                         0,
		`{"a":1}`:                       0,
		`[]`:                            0,
		``:                              0,
		`not JSON`:                      0,
	} {
		if rows, ok := tableOf(json.RawMessage(data)); len(rows) != want || ok != (want > 0) {
			t.Errorf("%s gave %d rows, %v; want %d", data, len(rows), ok, want)
		}
	}
}

// TestPlans: code is shown here and cut, and a page by its address.
func TestPlans(t *testing.T) {
	t.Parallel()
	code, err := json.Marshal(map[string]any{"renderer": "code", "config": map[string]string{"content": "one\n\x1b[2Jtwo\nthree\n"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		plan, data string
		most       int
		want       string
	}{
		{string(code), "", 0, "  one\n  ␛[2Jtwo\n  three\n"},
		{string(code), "", 2, "  one\n  ␛[2Jtwo\n  … 1 line more: /render\n"},
		{`{"renderer":"html"}`, "", 0, "  a page: fettle serve shows it at /api/tool-calls/C1/render\n"},
		{string(code), `[{"name":"x","n":1}]`, 0, "name  n\nx     1\n"},
		{`{"renderer":"other"}`, "", 0, ""},
	} {
		s := term.Test(term.TestOptions{OutTerminal: true, Env: map[string]string{"NO_COLOR": "1", "HOME": t.TempDir()}})
		tk := &talk{rt: workbench.New(s.Streams)}
		var c follow.Call
		c.CallID, c.RenderPlan, c.Data = "C1", json.RawMessage(tt.plan), json.RawMessage(tt.data)
		shown := tk.showPlan(s.Out, c, tt.most)
		if got := s.Stdout.String(); !strings.HasPrefix(tt.plan, `{"renderer":"html"`) && got != tt.want || shown != (tt.want != "") {
			t.Errorf("%s %s gave %q, %v; want %q", tt.plan, tt.data, got, shown, tt.want)
		} else if !strings.Contains(got, strings.TrimSuffix(tt.want[strings.LastIndex(tt.want, " ")+1:], "\n")) {
			t.Errorf("%s gave %q", tt.plan, got)
		}
	}
}

// TestBranchTree: each branch leaves the active one at its place, and says what
// it did to files.
func TestBranchTree(t *testing.T) {
	t.Parallel()
	now := time.Now()
	branches := []store.Branch{
		{Number: 1, Place: 3, Title: "make it rhyme", Messages: 4, UpdatedAt: now, Added: 1, Removed: 2},
		{Number: 2, Active: true, Place: 5, Messages: 6, UpdatedAt: now},
		{Number: 3, Place: 1, Title: "draft a poem", Messages: 2, UpdatedAt: now},
	}
	asked := []placed{{1, "draft a haiku"}, {3, "make it short"}, {5, "and now a longer question that can't stand in a row of so few columns"}}
	for _, width := range []int{40, 80} {
		lines := branchTree(branches, asked, width, term.Style{})
		all := strings.Join(lines, "\n")
		for _, line := range lines {
			if n := term.Cells(line); n >= width {
				t.Errorf("%d columns of %d: %q", n, width, line)
			}
		}
		var at []int
		for _, text := range []string{"draft a haiku", "branch 3", "make it short", "branch 1", "and now a", "branch 2"} {
			at = append(at, strings.Index(all, text))
		}
		for i := range at {
			if at[i] < 0 || i > 0 && at[i] < at[i-1] {
				t.Fatalf("the order is wrong at width %d:\n%s", width, all)
			}
		}
		if width == 80 && !strings.Contains(all, "files +1 -2") {
			t.Errorf("no changes are told:\n%s", all)
		}
	}
}

// TestTheRuleIsShownWhole: what always allows is read before it is chosen.
func TestTheRuleIsShownWhole(t *testing.T) {
	t.Parallel()
	rule := "write_file(path=a/rather/long/name/of/a/file/in/the/project.txt)"
	for _, width := range []int{40, 100} {
		d := &drawing{width: width, height: 24}
		a := &asking{rule: rule, choices: []term.Choice{{Key: 'y', Label: "once"}, {Key: 'a', Label: "always"}}}
		d.add(choiceRows(a.withRule(d), width)...)
		all := strings.Join(strings.Fields(strings.Join(d.rows.Lines, "")), "")
		if !strings.Contains(all, rule) {
			t.Errorf("width %d: %q", width, d.rows.Lines)
		}
	}
}

// TestTypeAheadAnswersNothing: a question takes keys only once nobody types, and
// then a key alone.
func TestTypeAheadAnswersNothing(t *testing.T) {
	t.Parallel()
	answer := make(chan answered, 1)
	a := &asking{choices: []term.Choice{{Key: 'y', Label: "once"}, {Key: 'n', Label: "no"}, {Key: 'r', Label: "why"}}, reasons: true, answer: answer}
	p := &page{asking: a}
	key := func(k live.Key) {
		if a, got := p.answerKey(k); a != nil {
			a.answer <- got
		}
	}
	text := func(s string) live.Key { return live.Key{Name: live.Text, Text: s} }
	key(text("y"))
	key(live.Key{Name: live.Enter})
	if p.asking == nil || len(answer) > 0 || p.line.Text() != "y" || a.since.IsZero() {
		t.Fatalf("a key that was typed ahead: %d answers, %q in the line", len(answer), p.line.Text())
	}
	a.armed = true
	for _, k := range []live.Key{{Name: live.Enter}, {Name: live.Pasted, Text: "y"}, {Name: live.Text, Text: "y", Ctrl: true}, text("x")} {
		if key(k); p.asking == nil || len(answer) > 0 {
			t.Fatalf("%+v answered", k)
		}
	}
	for _, k := range []live.Key{text("r"), text("y"), text("!"), {Name: live.Enter}} {
		key(k)
	}
	if got := <-answer; got.key != 'n' || got.reason != "y!" || p.asking != nil {
		t.Errorf("%+v", got)
	}
}
