package permission

import (
	"encoding/json"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
)

// The tools of the tests below, as the builtin ones are.
var (
	writes = toolset.Tool{
		ID: "write_file", Category: fileCategory, InputSchema: json.RawMessage(`{"type":"object","required":["path"]}`),
		Annotations: toolset.Annotations{Destructive: true},
	}
	reads = toolset.Tool{
		ID: "read_file", Category: fileCategory, InputSchema: json.RawMessage(`{"type":"object","required":["path"]}`),
		Annotations: toolset.Annotations{ReadOnly: true},
	}
	runs = toolset.Tool{
		ID: "run_command", Category: shellCategory, InputSchema: json.RawMessage(`{"type":"object","required":["command"]}`),
		RequiresConfirmation: true, Annotations: toolset.Annotations{Destructive: true},
	}
	fetches = toolset.Tool{
		ID: "web_fetch", Category: "web", InputSchema: json.RawMessage(`{"type":"object","required":["url"]}`),
		RequiresConfirmation: true, Annotations: toolset.Annotations{ReadOnly: true, OpenWorld: true},
	}
	foreign = toolset.Tool{
		ID: "notes:write_file", ToolsetID: "notes", Category: fileCategory, InputSchema: json.RawMessage(`{"type":"object","required":["path"]}`),
		Annotations: toolset.Annotations{ReadOnly: false},
	}
)

func TestModesDecideWhereNoRuleDoes(t *testing.T) {
	t.Parallel()
	mine := &toolset.Workspace{Path: "/w", Bound: true}
	for name, c := range map[string]struct {
		tool toolset.Tool
		args string
		want map[Mode]Verdict
	}{
		"a builtin change of a file": {writes, `{"path":"a"}`, map[Mode]Verdict{"": Ask, Calls: Ask, Changes: AskAfter, Edits: Run, AskAll: Ask}},
		"a builtin look at a file":   {reads, `{"path":"a"}`, map[Mode]Verdict{"": Run, Calls: Run, Changes: Run, Edits: Run, AskAll: Ask}},
		"a command":                  {runs, `{"command":"make"}`, map[Mode]Verdict{"": Ask, Calls: Ask, Changes: AskAfter, Edits: Ask, AskAll: Ask}},
		"a page of the web":          {fetches, `{"url":"https://a.example"}`, map[Mode]Verdict{"": Ask, Calls: Ask, Changes: AskAfter, Edits: Ask, AskAll: Ask}},
		"a toolset's change":         {foreign, `{"path":"a"}`, map[Mode]Verdict{"": Ask, Calls: Ask, Changes: AskAfter, Edits: Ask, AskAll: Ask}},
	} {
		for mode, want := range c.want {
			got, why := Policy{Approvals: mode}.Decide(Resolve(c.tool, json.RawMessage(c.args), mine))
			if got != want || got != Run && why == "" {
				t.Errorf("%s in the mode %q: verdict %v (%s), want %v", name, mode, got, why, want)
			}
		}
	}
}

// A rule that denies holds in each mode, and so does one that asks. An allow rule holds in
// all but ask-all, in which only a caller that allows everything is not asked.
func TestModesWidenNoRule(t *testing.T) {
	t.Parallel()
	mine := &toolset.Workspace{Path: "/w", Bound: true}
	file, command := json.RawMessage(`{"path":"notes/a"}`), json.RawMessage(`{"command":"rm a"}`)
	for _, mode := range append(Modes(), "") {
		for name, c := range map[string]struct {
			policy Policy
			tool   toolset.Tool
			args   json.RawMessage
			want   Verdict
			askAll Verdict
		}{
			"a denied file":           {Policy{Deny: []string{"write_file(path=notes/**)"}}, writes, file, Refuse, Refuse},
			"a denied command":        {Policy{Deny: []string{"run_command(rm *)"}}, runs, command, Refuse, Refuse},
			"denied and all allowed":  {Policy{Deny: []string{"run_command(rm *)"}, AllowAll: true}, runs, command, Refuse, Refuse},
			"a file to ask about":     {Policy{Ask: []string{"write_file(path=notes/**)"}}, writes, file, Ask, Ask},
			"a command to ask about":  {Policy{Ask: []string{"run_command(rm *)"}}, runs, command, Ask, Ask},
			"a command out of sight":  {Policy{Ask: []string{"run_command(rm *)"}}, runs, json.RawMessage(`{"command":"$(x) a"}`), Ask, Ask},
			"an allowed command":      {Policy{Allow: []string{"run_command(rm *)"}}, runs, command, Run, Ask},
			"all allowed":             {Policy{AllowAll: true}, runs, command, Run, Run},
			"the rule of an approval": {Policy{Allow: []string{Resolve(runs, command, mine).Rule()}}, runs, command, Run, Ask},
		} {
			want := c.want
			if mode == AskAll {
				want = c.askAll
			}
			c.policy.Approvals = mode
			if got, why := c.policy.Decide(Resolve(c.tool, c.args, mine)); got != want {
				t.Errorf("%s in the mode %q: verdict %v (%s), want %v", name, mode, got, why, want)
			}
		}
	}
}

func TestAskAllAsksAboutAllowedPrompts(t *testing.T) {
	t.Parallel()
	for mode, want := range map[Mode]Verdict{Calls: Run, Changes: Run, Edits: Run, AskAll: Ask} {
		rules, err := Policy{Allow: []string{"sampling@geo"}, Approvals: mode}.Compile()
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := rules.DecidePrompt("geo"); got != want {
			t.Errorf("in the mode %s: verdict %v, want %v", mode, got, want)
		}
	}
}

// A policy that is added keeps the mode that it is added to, unless it has one itself.
func TestAnAddedPolicyHasTheLastWordOnTheMode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ first, second, want Mode }{{Edits, "", Edits}, {"", AskAll, AskAll}, {Edits, AskAll, AskAll}, {AskAll, Calls, Calls}} {
		if got := (Policy{Approvals: c.first}).With(Policy{Approvals: c.second}).Approvals; got != c.want {
			t.Errorf("%q with %q is %q, want %q", c.first, c.second, got, c.want)
		}
	}
}

// In plan mode a call may run only if fettle itself keeps it to reading.
func TestPlanModeTrustsNoDeclaration(t *testing.T) {
	t.Parallel()
	declared := toolset.Tool{ID: "notes:look", ToolsetID: "notes", Annotations: toolset.Annotations{ReadOnly: true}}
	for name, c := range map[string]struct {
		tool   toolset.Tool
		policy *toolset.Policy
		want   bool
	}{
		"a builtin look at a file":             {reads, nil, true},
		"a builtin change of a file":           {writes, nil, false},
		"a command":                            {runs, nil, false},
		"a page of the web":                    {fetches, nil, false},
		"a server that declares to read":       {declared, nil, false},
		"a sandbox that can only read":         {declared, &toolset.Policy{ReadOnly: true}, true},
		"a sandbox that can only read, or not": {declared, &toolset.Policy{ReadOnly: true, Least: toolset.LevelNone}, false},
		"a sandbox with a host":                {declared, &toolset.Policy{ReadOnly: true, Network: toolset.NetworkHosts, Hosts: []string{"a.example"}}, false},
		"a sandbox that can write":             {declared, &toolset.Policy{}, false},
	} {
		if got := InPlan(toolset.ReachOf(c.tool, c.policy)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestParseMode(t *testing.T) {
	t.Parallel()
	for _, m := range Modes() {
		if got, err := ParseMode(string(m)); err != nil || got != m {
			t.Errorf("%q is %q: %v", m, got, err)
		}
	}
	for _, bad := range []string{"", "plan", "Edits", "all"} {
		if m, err := ParseMode(bad); err == nil {
			t.Errorf("%q was taken for the mode %q", bad, m)
		}
	}
}
