package permission

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/internal/shellparts"
	"github.com/fettle-cli/fettle/toolset"
)

// plain decides by parsing every rule for every question: what compiled rules must agree
// with.
type plain Policy

func (plain) parsed(rules []string, id string) (out []rule) {
	for _, text := range rules {
		r, err := parseRule(text)
		if err != nil {
			continue
		}
		if ok, err := toolset.Match(r.tool, id); err == nil && ok {
			out = append(out, r)
		}
	}
	return out
}

func (p plain) first(rules []string, c *Call, s side) (string, bool) {
	for _, r := range p.parsed(rules, c.tool.ID) {
		if r.matches(c, s) {
			return r.text, true
		}
	}
	return "", false
}

func (p plain) catches(rules []string, c *Call) (string, bool) {
	if text, ok := p.first(rules, c, prohibits); ok {
		return text, true
	}
	if command, ok := c.command(); ok {
		seen, _ := shellparts.Seen(command, shellDialect())
		for _, each := range seen {
			if text, ok := p.first(rules, c.running(each), prohibits); ok {
				return text, true
			}
		}
	}
	return "", false
}

func (p plain) allowsWhole(rules []string, c *Call) bool {
	return len(rules) > 0 && (slices.Contains(rules, c.Rule()) || c.shell != "" &&
		slices.ContainsFunc(p.parsed(rules, c.tool.ID), func(r rule) bool { return !r.wildIn(c) && r.matches(c, permits) }))
}

func (p plain) allows(rules []string, c *Call) bool {
	if p.allowsWhole(rules, c) {
		return true
	}
	command, ok := c.command()
	if !ok {
		_, hit := p.first(rules, c, permits)
		return hit
	}
	parts, simple := shellparts.Simple(command, shellDialect())
	for _, part := range parts {
		if _, hit := p.first(rules, c.running(part), permits); !hit {
			return false
		}
	}
	return simple
}

func (p plain) about(rules []string, c *Call) (string, bool) {
	for _, r := range p.parsed(rules, c.tool.ID) {
		if slices.ContainsFunc(r.args, func(a argRule) bool { return c.isCommand(a.name) }) {
			return r.text, true
		}
	}
	return "", false
}

func (p plain) unclear(c *Call) (Verdict, string, bool) {
	command, isLine := c.command()
	if !isLine {
		return Run, "", false
	}
	limits, limited := p.about(slices.Concat(p.Deny, p.Ask), c)
	_, granted := p.about(p.Allow, c)
	if _, unclear := shellparts.Seen(command, shellDialect()); !unclear || !limited && !granted {
		return Run, "", false
	}
	why := "the rule " + limits + " concerns commands, and it can't be seen which commands this line runs"
	switch {
	case slices.Contains(p.Allow, c.Rule()):
		return Run, "", true
	case limited && p.AllowAll:
		return Refuse, why, true
	case limited:
		return Ask, why, true
	case p.AllowAll || p.allowsWhole(p.Allow, c):
		return Run, "", true
	}
	return Ask, "it can't be seen which commands this line runs", true
}

func (p plain) decide(c *Call) (Verdict, string) {
	if rule, ok := p.catches(p.Deny, c); ok {
		return Refuse, "the rule deny " + rule + " forbids it"
	}
	if v, why, ok := p.unclear(c); ok {
		return v, why
	}
	if p.allows(p.Allow, c) {
		return Run, ""
	}
	v, why := Run, ""
	if rule, ok := p.catches(p.Ask, c); ok {
		v, why = Ask, "the rule ask "+rule+" wants it"
	} else if c.tool.RequiresConfirmation {
		v, why = Ask, "the tool wants an approval"
	}
	if p.AllowAll {
		v = Run
	}
	return v, why
}

// denied returns the deny rules that a tool's own reads are compared with.
func (p plain) denied(t toolset.Tool, name string) (string, bool) {
	for _, r := range p.parsed(p.Deny, t.ID) {
		if len(r.args) == 1 && isPathName(cmp.Or(r.args[0].name, mainArg(t))) && matchesAny(pathGlobs(r.args[0].glob), []string{name}, false) {
			return "deny " + r.text, true
		}
	}
	return "", false
}

func (p plain) prompt(server string) (Verdict, string) {
	named := func(rules []string) (string, bool) {
		for _, r := range p.parsed(rules, SamplingRule(server)) {
			if len(r.args) == 0 && strings.HasPrefix(r.tool, "sampling@") {
				return r.text, true
			}
		}
		return "", false
	}
	if rule, ok := named(p.Deny); ok {
		return Refuse, "the rule deny " + rule + " forbids it"
	}
	if _, ok := named(p.Allow); ok {
		return Run, ""
	}
	return Ask, ""
}

// Compiled rules decide as each rule by itself does, also those that cannot be parsed and
// those whose tools hardly can be ids.
func TestCompiledRulesDecideAsPlainOnes(t *testing.T) {
	t.Parallel()
	tools := []toolset.Tool{
		{ID: "run", Category: shellCategory, RequiresConfirmation: true, InputSchema: json.RawMessage(`{"required":["command"]}`)},
		{ID: "docs:run", Category: shellCategory, InputSchema: json.RawMessage(`{"required":["other"]}`)},
		{ID: "read", InputSchema: json.RawMessage(`{"required":["path"]}`)}, {ID: "docs:read", RequiresConfirmation: true},
		{ID: "docs:a/b", InputSchema: json.RawMessage(`{"required":["path"]}`)}, {ID: "ré"}, {ID: "sampling@geo"},
	}
	values := []string{"ls", "ls -l", "ls; rm x", "ls $(rm x)", "env rm x", "notes/a", "a", "https://x.example/a", "*", ""}
	globs := []string{"ls", "ls *", "rm *", "rm x", "notes/**", "*", "**", "a", "{a,b}", `\*`, "https://*.example/**", "["}
	names := []string{"run", "read", "docs:run", "docs:read", "docs:*", "docs:a/b", "*", "**", "*:*", "r*", "{run,read}", "ré", "r?", "[", "", "run/", `re\ad`, "sampling@*", "sampling@geo"}
	drawRule := rapid.Custom(func(t *rapid.T) string {
		text := rapid.SampledFrom(names).Draw(t, "tool")
		switch rapid.IntRange(0, 4).Draw(t, "form") {
		case 0:
			return text
		case 1:
			return text + "(" + rapid.SampledFrom(globs).Draw(t, "glob")
		case 2:
			return text + "(path=" + rapid.SampledFrom(globs).Draw(t, "glob") + ", command=" + rapid.SampledFrom(globs).Draw(t, "other") + ")"
		case 3:
			return text + "(" + rapid.SampledFrom([]string{"path", "command"}).Draw(t, "name") + "=" + rapid.SampledFrom(globs).Draw(t, "glob") + ")"
		}
		return text + "(" + rapid.SampledFrom(globs).Draw(t, "glob") + ")"
	})
	rules := rapid.SliceOfN(drawRule, 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		p := Policy{
			Deny: rules.Draw(t, "deny"), Allow: rules.Draw(t, "allow"), Ask: rules.Draw(t, "ask"), AllowAll: rapid.Bool().Draw(t, "all"),
		}
		if rapid.Bool().Draw(t, "made") { // by an approval of such a call
			tool := rapid.SampledFrom(tools).Draw(t, "approved")
			args, _ := json.Marshal(map[string]string{"command": "ls $(rm x)", "path": "notes/a"})
			p.Allow = append(p.Allow, Resolve(tool, args, nil).Rule())
		}
		compiled, err := p.Compile()
		var bad error
		for _, text := range slices.Concat(p.Deny, p.Allow, p.Ask) {
			_, err := parseRule(text)
			bad = cmp.Or(bad, err)
		}
		if fmt.Sprint(err) != fmt.Sprint(bad) {
			t.Fatalf("the error is %v, not %v", err, bad)
		}
		for _, tool := range tools {
			args := map[string]string{}
			for _, name := range []string{"command", "path", "other"} {
				if rapid.IntRange(0, 3).Draw(t, "given") > 0 {
					args[name] = rapid.SampledFrom(values).Draw(t, name)
				}
			}
			raw, _ := json.Marshal(args)
			one, other := Resolve(tool, raw, nil), Resolve(tool, raw, nil)
			v, why := compiled.Decide(one)
			if want, reason := plain(p).decide(other); v != want || want != Run && why != reason {
				t.Fatalf("%s %s: %v (%s), not %v (%s)", tool.ID, raw, v, why, want, reason)
			}
			if !reflect.DeepEqual(slices.Sorted(maps.Keys(one.means)), slices.Sorted(maps.Keys(other.means))) {
				t.Fatalf("%s %s: it looked at %v, not at %v", tool.ID, raw, one.means, other.means)
			}
			name := rapid.SampledFrom(values).Draw(t, "reached")
			got, yes := "", false
			if check := compiled.Denied(tool); check != nil {
				got, yes = check(name, false)
			}
			if want, denied := plain(p).denied(tool, name); got != want || yes != denied {
				t.Fatalf("%s reaches %q: %q, not %q", tool.ID, name, got, want)
			}
			named := slices.ContainsFunc(plain(p).parsed(p.Allow, tool.ID), func(r rule) bool { return r.tool != "*" && r.tool != "**" })
			if compiled.Names(tool.ID) != named {
				t.Fatalf("a rule names %s: %v", tool.ID, !named)
			}
		}
		v, why := compiled.DecidePrompt("geo")
		if want, reason := plain(p).prompt("geo"); v != want || why != reason {
			t.Fatalf("a prompt: %v (%s), not %v (%s)", v, why, want, reason)
		}
	})
}

// Rules for other tools cost a call nothing. It counts allocations, and so runs alone.
func TestRulesOfOtherToolsCostNothing(t *testing.T) {
	tool := toolset.Tool{ID: "run", Category: shellCategory, RequiresConfirmation: true, InputSchema: json.RawMessage(`{"required":["command"]}`)}
	cost := func(n int) (float64, int) {
		p := Policy{Allow: []string{"run(git status*)"}, Deny: []string{"run(rm *)"}, Ask: []string{"r*"}}
		for i := range n {
			rule := fmt.Sprintf("set%d:read(path=notes%d/**)", i, i)
			p.Allow, p.Deny, p.Ask = append(p.Allow, rule), append(p.Deny, rule), append(p.Ask, fmt.Sprintf("set%d:*", i))
		}
		rules, err := p.Compile()
		if err != nil {
			t.Fatal(err)
		}
		c := Resolve(tool, json.RawMessage(`{"command":"git log && git status"}`), nil)
		decide := func() { rules.Decide(c) }
		decide()
		return testing.AllocsPerRun(20, decide), len(rules.allow.of("run")) + len(rules.deny.of("run")) + len(rules.ask.of("run"))
	}
	few, looked := cost(1)
	many, lookedMany := cost(1000)
	if looked != lookedMany || many > few {
		t.Errorf("a call looks at %d rules among few and at %d among many, with %.0f and %.0f allocations", looked, lookedMany, few, many)
	}
}
