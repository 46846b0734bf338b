package permission

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
)

// A compiled policy decides as one that reads its rules at each call does.
func TestCompiledPolicyDecidesTheSame(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	shell := toolset.Tool{ID: "run_command", Category: "shell", InputSchema: json.RawMessage(`{"required":["command"]}`), RequiresConfirmation: true}
	file := toolset.Tool{ID: "write_file", InputSchema: json.RawMessage(`{"required":["path"]}`), RequiresConfirmation: true}
	other := toolset.Tool{ID: "set:write_file", InputSchema: file.InputSchema}
	tools := []string{"run_command", "write_file", "set:write_file", "set:*", "*", "**", "*_file", "{set,x}:*", "bro(ken", `write\_file`, "other"}
	globs := []string{"", "(git *)", "(a*)", "(notes/**)", "(path=a.md)", "(command=ls)", "(git status)", "(notes/a.md)", "([)", "(ls, path=*)"}
	calls := []string{`{"command":"git status"}`, `{"command":"ls && git log"}`, `{"command":"rm a > b"}`, `{"path":"a.md"}`, `{"path":"notes/a.md"}`, `{}`, `{"path":3}`}
	list := func() (out []string) {
		for range rng.IntN(6) {
			out = append(out, tools[rng.IntN(len(tools))]+globs[rng.IntN(len(globs))])
		}
		return out
	}
	verdicts := map[Verdict]int{}
	for range 3000 {
		p := Policy{Deny: list(), Allow: list(), Ask: list(), AllowAll: rng.IntN(8) == 0}
		compiled, _ := p.Compile()
		tool := []toolset.Tool{shell, file, other}[rng.IntN(3)]
		args := json.RawMessage(calls[rng.IntN(len(calls))])
		v, why := p.Decide(tool, args, nil)
		if cv, cwhy := compiled.Decide(tool, args, nil); cv != v || cwhy != why {
			t.Fatalf("%+v, %s %s: %v %q, compiled %v %q", p, tool.ID, args, v, why, cv, cwhy)
		}
		verdicts[v]++
		// A list that grows after the compilation counts.
		compiled.Deny = append(compiled.Deny, tool.ID)
		if cv, _ := compiled.Decide(tool, args, nil); cv != Refuse {
			t.Fatalf("a rule that was added doesn't count: %v", cv)
		}
	}
	if len(verdicts) != 3 {
		t.Errorf("the verdicts were %v", verdicts)
	}
}

// A call looks at the rules for its tool alone.
func TestACallLooksAtTheRulesForItsTool(t *testing.T) { // counts allocations, so it isn't parallel
	for _, n := range []int{10, 1000} {
		var rules []string
		for i := range n {
			rules = append(rules, fmt.Sprintf("set%d:tool(path=a%d)", i, i))
		}
		rules = append(rules, "set3:*(path=b)", "*(path=c)")
		l := newRuleList(rules)
		if got := l.of("set3:tool"); len(got) != 3 || got[0].text != rules[3] || got[2].text != "*(path=c)" {
			t.Errorf("%d rules: %d are looked at", n, len(got))
		}
		if got := l.of("write_file"); len(got) != 1 {
			t.Errorf("%d rules: %d are looked at for another tool", n, len(got))
		}
		p, err := Policy{Allow: rules}.Compile()
		if err != nil {
			t.Fatal(err)
		}
		tool := toolset.Tool{ID: "set3:tool", InputSchema: json.RawMessage(`{}`)}
		few := testing.AllocsPerRun(20, func() { p.Decide(tool, json.RawMessage(`{"path":"x"}`), nil) })
		if few > 60 {
			t.Errorf("%d rules: a decision allocates %v times", n, few)
		}
	}
}
