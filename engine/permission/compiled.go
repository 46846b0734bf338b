package permission

import (
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
)

// ruleList is a list of rules that was parsed once. It finds the rules for a tool
// without looking at those for others.
type ruleList struct {
	source []string
	byTool map[string][]listed // of rules that name one tool
	globs  []listed            // of rules for several tools
	err    error               // about the first rule that can't be parsed
}

// listed is a rule with its text and its place in the list.
type listed struct {
	rule
	text  string
	place int
}

// ruleLists are the lists of a policy.
type ruleLists struct{ deny, allow, ask *ruleList }

// newRuleList parses rules. A rule that can't be parsed matches nothing.
func newRuleList(rules []string) *ruleList {
	l := &ruleList{source: rules, byTool: map[string][]listed{}}
	for i, text := range rules {
		r, err := parseRule(text)
		if err != nil {
			if l.err == nil {
				l.err = err
			}
			continue
		}
		if strings.ContainsAny(r.tool, wildcards) {
			l.globs = append(l.globs, listed{r, text, i})
		} else {
			l.byTool[r.tool] = append(l.byTool[r.tool], listed{r, text, i})
		}
	}
	return l
}

// wildcards are the characters that make a text a glob.
const wildcards = `*?[{\`

// of returns the rules that may mean a tool, in the order of the list.
func (l *ruleList) of(id string) []listed {
	own := l.byTool[id]
	if len(l.globs) == 0 {
		return own
	}
	out := slices.Clone(own)
	for _, r := range l.globs {
		if ok, err := toolset.Match(r.tool, id); err == nil && ok {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b listed) int { return a.place - b.place })
	return out
}

// Compile parses the rules, so that each decision looks only at those for its
// tool. The error names the first rule that can't be parsed; such a rule matches
// nothing. Where a list is replaced afterwards, decisions parse that list again
// until the policy is compiled again.
func (p Policy) Compile() (Policy, error) {
	p.parsed = p.lists()
	for _, l := range []*ruleList{p.parsed.deny, p.parsed.allow, p.parsed.ask} {
		if l.err != nil {
			return p, l.err
		}
	}
	return p, nil
}

// lists returns the policy's lists, parsed.
func (p Policy) lists() *ruleLists {
	was := p.parsed
	if was == nil {
		was = new(ruleLists)
	}
	return &ruleLists{deny: was.deny.or(p.Deny), allow: was.allow.or(p.Allow), ask: was.ask.or(p.Ask)}
}

// or returns l if it was parsed from the very rules, else the rules parsed.
func (l *ruleList) or(rules []string) *ruleList {
	if l != nil && len(l.source) == len(rules) && (len(rules) == 0 || &l.source[0] == &rules[0]) {
		return l
	}
	return newRuleList(rules)
}

// Named returns a function that reports whether a rule names a tool, by more than
// a glob for all tools.
func Named(rules []string) func(id string) bool {
	l := newRuleList(rules)
	return func(id string) bool {
		return slices.ContainsFunc(l.of(id), func(r listed) bool { return r.tool != "*" && r.tool != "**" })
	}
}
